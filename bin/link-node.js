// npm runs this after `npm ci` and `npm install` in a checkout ("prepare" in package.json).
//
// Several optional packages bring the same command `node`, each for its own platform. npm 10, when
// it throws out those for other platforms, throws out node_modules/.bin/node with them, and npm
// scripts would run under whatever Node.js the machine has. This puts the command back.

import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { findNodeOfNpm } from './find-node.js'

const node = findNodeOfNpm()
const folder = fileURLToPath(new URL('../node_modules/.bin/', import.meta.url))
const windows = process.platform === 'win32'
const link = path.join(folder, windows ? 'node.cmd' : 'node')

if (node !== undefined && !existsSync(link)) {
  mkdirSync(folder, { recursive: true })
  // A link that leads nowhere does not "exist", but stands in the way.
  rmSync(link, { force: true })
  const target = path.relative(folder, node)
  if (windows) writeFileSync(link, `@"%~dp0${target}" %*\r\n`)
  else symlinkSync(target, link)
}
