#!/usr/bin/env node
// The command `gatehouse`. Becomes the server, or runs it with a Node.js that is new enough if this
// one is not; this file itself also runs on older versions.

import { existsSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { compileCacheFolder } from './compile-cache.js'
import { isNewEnough, NEEDS_NODE } from './needs-node.js'
import { NODE_FLAGS } from './node-flags.js'

/** @param {string} name */
const urlOf = (name) => new URL(name, import.meta.url)
const inCheckout = urlOf('../server/main.ts')
const packed = urlOf('../dist/server/main.mjs')
const main = fileURLToPath(existsSync(inCheckout) ? inCheckout : packed)

/** @param {string} sentence */
function fail(sentence) {
  process.stderr.write(`${sentence}\n`)
  process.exitCode = 1
}

/** Returns whether this process has the flags of the server, from its command line or `NODE_OPTIONS`. */
function hasFlags() {
  const flags = [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(' ')]
  return NODE_FLAGS.every((flag) => flags.includes(flag))
}

/** Returns the environment of a server in another program: with the cache for compiled code. */
function environmentOfServer() {
  const cache = compileCacheFolder()
  return { ...process.env, ...(cache !== undefined && { NODE_COMPILE_CACHE: cache }) }
}

/** Runs the server in this process, which saves a second start of Node.js. */
async function runHere() {
  const cache = compileCacheFolder()
  if (cache !== undefined) {
    module.enableCompileCache(cache)
    // For worker threads and other processes.
    process.env.NODE_COMPILE_CACHE = cache
  }
  await import(pathToFileURL(main).href)
}

/**
 * Replaces this process with the server, so that no second process waits beside it. Passes on the
 * flags of Node.js.
 *
 * @param {NonNullable<typeof process.execve>} execve
 */
function replaceProcess(execve) {
  const { execPath, execArgv, argv } = process
  execve(
    execPath,
    [execPath, ...NODE_FLAGS, ...execArgv, main, ...argv.slice(2)],
    environmentOfServer(),
  )
}

/** @param {string} node runs the server; this process passes on signals and the exit code. */
async function runWith(node) {
  const { spawn } = await import('node:child_process')
  const child = spawn(
    node,
    [
      ...NODE_FLAGS,
      // The server stops when the channel to this process closes, even if this one is killed.
      `--import=${urlOf('./follow-parent.js').href}`,
      main,
      ...process.argv.slice(2),
    ],
    { env: environmentOfServer(), stdio: ['inherit', 'inherit', 'inherit', 'ipc'] },
  )

  /** @type {NodeJS.Signals[]} */
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2']
  /** @param {NodeJS.Signals} signal */
  const forward = (signal) => {
    // On Windows, the console signals the server itself, and kill() would terminate it.
    if (process.platform !== 'win32') child.kill(signal)
  }
  for (const signal of signals) process.on(signal, forward)
  // Otherwise the signal opens the debugger of this process. Older versions lack --disable-sigusr1.
  process.on('SIGUSR1', () => {})
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
} else if (isNewEnough(process.version) && hasFlags()) {
  await runHere()
} else if (isNewEnough(process.version) && process.execve !== undefined) {
  replaceProcess(process.execve)
} else {
  const { findNode } = await import('./find-node.js')
  const { node, problem } = findNode()
  if (node !== undefined) await runWith(node)
  else fail(problem === undefined ? NEEDS_NODE : `${problem}\n${NEEDS_NODE}`)
}
