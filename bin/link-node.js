// npm runs this script after `npm ci` and `npm install` in a checkout ("prepare" in package.json). It
// fails if npm has left out packages because its Node.js is too old, and makes the command `node` of
// npm's scripts, node_modules/.bin/node, a Node.js that starts and is new enough.

import { mkdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { findNode, findNodeOfNpm } from './find-node.js'
import { canInstall, NEEDS_NODE, needsNodeToInstall } from './needs-node.js'

const isWindows = process.platform === 'win32'
const folder = fileURLToPath(new URL('../node_modules/.bin/', import.meta.url))
const link = path.join(folder, isWindows ? 'node.cmd' : 'node')

/** @returns {string | undefined} */
function readLink() {
  try {
    return isWindows ? readFileSync(link, 'utf8') : readlinkSync(link)
  } catch {
    return undefined
  }
}

/** @param {string} target absolute, or relative to the folder of the link */
function writeLink(target) {
  const command = path.isAbsolute(target) ? target : `%~dp0${target}`
  const content = isWindows ? `@"${command}" %*\r\n` : target
  // `npm pack` runs this too: scripts that use the command may be running.
  if (readLink() === content) return
  mkdirSync(folder, { recursive: true })
  rmSync(link, { force: true })
  if (isWindows) writeFileSync(link, content)
  else symlinkSync(content, link)
}

/** @param {string} line */
const print = (line) => process.stderr.write(`${line}\n`)

// This script may already run on the Node.js that an earlier installation linked.
const [, npmsVersion = process.version] =
  / node\/(v\S+)/.exec(process.env.npm_config_user_agent ?? '') ?? []
if (!canInstall(npmsVersion)) {
  print(needsNodeToInstall(npmsVersion))
  process.exit(1)
}

const { node, problem } = findNode()
if (problem !== undefined) print(problem)
if (node === undefined) {
  rmSync(link, { force: true })
  print(NEEDS_NODE)
  process.exitCode = 1
} else {
  if (problem !== undefined) print(`Gatehouse uses ${node} instead.`)
  // Relative within the checkout, which may be moved.
  writeLink(node === findNodeOfNpm() ? path.relative(folder, node) : node)
}
