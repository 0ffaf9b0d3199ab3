#!/usr/bin/env node
// The command `gatehouse`, in JavaScript that older versions of Node.js understand: it runs the
// server with a Node.js that is new enough.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { findNode, NEEDS_NODE } from './find-node.js'

/** @param {string} name */
const beside = (name) => new URL(name, import.meta.url)
const inCheckout = fileURLToPath(beside('../server/main.ts'))
const packed = fileURLToPath(beside('../dist/server/main.js'))
const main = existsSync(inCheckout) ? inCheckout : packed

const windows = process.platform === 'win32'

/** A second signal of the same kind within this time (ms) is the same key press, told twice. */
const SAME_PRESS = 1_000

/** @param {string} sentence */
function giveUp(sentence) {
  process.stderr.write(`${sentence}\n`)
  process.exitCode = 1
}

/** @param {string} node */
function run(node) {
  const child = spawn(
    node,
    [
      '--disable-warning=ExperimentalWarning',
      // The server stops when the channel to this process closes, even if this one is killed.
      `--import=${beside('./follow-parent.js').href}`,
      main,
      ...process.argv.slice(2),
    ],
    {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      // In a group of its own, so that Ctrl-C reaches the server once: from here, not from the
      // terminal as well. Windows has no such groups, and would open a window.
      detached: !windows,
    },
  )

  /** @type {Map<string, number>} */
  const last = new Map()
  /** @type {NodeJS.Signals[]} */
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  /** @param {NodeJS.Signals} signal */
  const forward = (signal) => {
    const now = performance.now()
    // npm passes on a Ctrl-C that the terminal has sent to this process already.
    const again = now - (last.get(signal) ?? Number.NEGATIVE_INFINITY) < SAME_PRESS
    last.set(signal, now)
    // On Windows the console itself tells the server, and kill() would not be a signal.
    if (!again && !windows) child.kill(signal)
  }
  for (const signal of signals) process.on(signal, forward)
  const settle = () => {
    for (const signal of signals) process.removeListener(signal, forward)
  }

  child.once('error', (error) => {
    if (child.pid !== undefined) return
    settle()
    giveUp(`${node} cannot be run: ${error.message}`)
  })
  child.once('exit', (code, signal) => {
    settle()
    if (signal === null) process.exitCode = code ?? 1
    else process.kill(process.pid, signal)
  })
}

if (!existsSync(main)) {
  giveUp('The server is missing from this package: neither server/main.ts nor dist/server/main.js.')
} else {
  const { node, problem } = findNode()
  if (node !== undefined) run(node)
  else giveUp(problem === undefined ? NEEDS_NODE : `${problem}\n${NEEDS_NODE}`)
}
