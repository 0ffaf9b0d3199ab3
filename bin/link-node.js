// npm runs this after `npm ci` and `npm install` in a checkout ("prepare" in package.json). It
// makes the command `node` of npm's scripts, node_modules/.bin/node, a Node.js that starts and is
// new enough.

import { mkdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { findNode, findNodeOfNpm, NEEDS_NODE } from './find-node.js'

const windows = process.platform === 'win32'
const folder = fileURLToPath(new URL('../node_modules/.bin/', import.meta.url))
const link = path.join(folder, windows ? 'node.cmd' : 'node')

/** @returns {string | undefined} */
function readLink() {
  try {
    return windows ? readFileSync(link, 'utf8') : readlinkSync(link)
  } catch {
    return undefined
  }
}

/** @param {string} target absolute, or relative to the folder of the link */
function makeLink(target) {
  const command = path.isAbsolute(target) ? target : `%~dp0${target}`
  const content = windows ? `@"${command}" %*\r\n` : target
  // `npm pack` runs this too: scripts that use the command may be running.
  if (readLink() === content) return
  mkdirSync(folder, { recursive: true })
  rmSync(link, { force: true })
  if (windows) writeFileSync(link, content)
  else symlinkSync(content, link)
}

/** @param {string} line */
const tell = (line) => process.stderr.write(`${line}\n`)

const { node, problem } = findNode()
if (problem !== undefined) tell(problem)
if (node === undefined) {
  rmSync(link, { force: true })
  tell(NEEDS_NODE)
  process.exitCode = 1
} else {
  if (problem !== undefined) tell(`Gatehouse uses ${node} instead.`)
  // Relative within the checkout, which may be moved.
  makeLink(node === findNodeOfNpm() ? path.relative(folder, node) : node)
}
