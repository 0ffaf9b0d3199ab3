#!/usr/bin/env node
// The command `gatehouse`. Runs the server with a Node.js that is new enough; this file itself also runs
// on older versions.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { findNode, NEEDS_NODE } from './find-node.js'
import { NODE_FLAGS } from './node-flags.js'

/** @param {string} name */
const urlOf = (name) => new URL(name, import.meta.url)
const inCheckout = fileURLToPath(urlOf('../server/main.ts'))
const packed = fileURLToPath(urlOf('../dist/server/main.mjs'))
const main = existsSync(inCheckout) ? inCheckout : packed

const isWindows = process.platform === 'win32'

/** Repeated signals within this time are one key press, ms. */
const REPEAT_WINDOW = 1_000

/** @param {string} sentence */
function fail(sentence) {
  process.stderr.write(`${sentence}\n`)
  process.exitCode = 1
}

/** @param {string} node */
function run(node) {
  const child = spawn(
    node,
    [
      ...NODE_FLAGS,
      // The server stops when the channel to this process closes, even if this one is killed.
      `--import=${urlOf('./follow-parent.js').href}`,
      main,
      ...process.argv.slice(2),
    ],
    {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      // A separate process group, so that Ctrl-C reaches the server once, from this process and not
      // from the terminal too. Windows has no process groups and would open a window.
      detached: !isWindows,
    },
  )

  /** @type {Map<string, number>} */
  const last = new Map()
  /** @type {NodeJS.Signals[]} */
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  /** @param {NodeJS.Signals} signal */
  const forward = (signal) => {
    const now = performance.now()
    // npm forwards a Ctrl-C that the terminal has already sent to this process.
    const isRepeat = now - (last.get(signal) ?? Number.NEGATIVE_INFINITY) < REPEAT_WINDOW
    last.set(signal, now)
    // On Windows, the console signals the server itself, and kill() would terminate it.
    if (!isRepeat && !isWindows) child.kill(signal)
  }
  for (const signal of signals) process.on(signal, forward)
  const stopForwarding = () => {
    for (const signal of signals) process.removeListener(signal, forward)
  }

  child.once('error', (error) => {
    if (child.pid !== undefined) return
    stopForwarding()
    fail(`${node} cannot be run: ${error.message}`)
  })
  child.once('exit', (code, signal) => {
    stopForwarding()
    if (signal === null) process.exitCode = code ?? 1
    else process.kill(process.pid, signal)
  })
}

if (!existsSync(main)) {
  fail('The server is missing from this package: neither server/main.ts nor dist/server/main.mjs.')
} else {
  const { node, problem } = findNode()
  if (node !== undefined) run(node)
  else fail(problem === undefined ? NEEDS_NODE : `${problem}\n${NEEDS_NODE}`)
}
