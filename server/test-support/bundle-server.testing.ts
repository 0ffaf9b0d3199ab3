import { execFile } from 'node:child_process'
import { copyFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { bundleServer as build } from '../../tools/bundle-server.ts'
import { MAIN, SOURCE } from './server-process.testing.ts'

/** A server that starts in a third of the time. */
export interface BundledServer {
  /** The file to run instead of `server/main.ts`. */
  readonly main: string
  /** Must be added to its environment. */
  readonly env: Readonly<Record<string, string>>
}

/**
 * Returns the bundle of this test run. If there is none, builds one in `folder`, with a warm compile
 * cache.
 */
export async function bundleServer(folder: string): Promise<BundledServer> {
  if (MAIN !== SOURCE) return { main: MAIN, env: {} }
  // The server reads its version two levels above the bundle, as in the checkout.
  copyFileSync(join(SOURCE, '../../package.json'), join(folder, 'package.json'))
  const main = await build(join(folder, 'dist/server'))
  const env = { NODE_COMPILE_CACHE: join(folder, 'compiled') }
  await fillCompileCache(main, env)
  return { main, env }
}

/**
 * Fills the compile cache of a bundle. Node.js writes it only when a process exits normally; killed
 * processes do not.
 */
export async function fillCompileCache(main: string, env?: NodeJS.ProcessEnv): Promise<void> {
  const folder = dirname(main)
  const [node = ''] = readdirSync(folder).filter((name) => /^start-.*\.mjs$/.test(name))
  const loaded = pathToFileURL(join(folder, node)).href
  await promisify(execFile)(process.execPath, ['--import', loaded, main, '--help'], { env })
}
