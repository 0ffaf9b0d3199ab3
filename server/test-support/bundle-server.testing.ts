import { execFile } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'vite'
import { MAIN, SOURCE } from './server-process.testing.ts'

/** A server that starts in a third of the time. */
export interface BundledServer {
  /** The file to run instead of `server/main.ts`. */
  readonly main: string
  /** Must be added to its environment. */
  readonly env: Readonly<Record<string, string>>
}

/**
 * Bundles `server/main.ts` and its imports into `folder`. With a folder two levels below the root of
 * the checkout, the server finds its console.
 *
 * @returns the bundle of `main.ts`
 */
export async function buildServerBundle(folder: string): Promise<string> {
  await build({
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true, external: ['pg-native'] },
    build: {
      ssr: true,
      outDir: folder,
      emptyOutDir: false,
      // oidc-provider uses the names of its classes.
      minify: false,
      rolldownOptions: {
        input: {
          main: SOURCE,
          // Loaded by the main file when it starts a node.
          'start-command': join(SOURCE, '../cli/commands/start.ts'),
          // A worker thread, which the server starts as a file beside its own.
          'schema-worker': join(SOURCE, '../documents/schemas/schema-worker.ts'),
        },
        output: { format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' },
      },
    },
  })
  return join(folder, 'main.mjs')
}

/**
 * Returns the bundle of this test run. If there is none, builds one in `folder`, with a warm compile
 * cache.
 */
export async function bundleServer(folder: string): Promise<BundledServer> {
  if (MAIN !== SOURCE) return { main: MAIN, env: {} }
  // The server reads its version two levels above the bundle, as in the checkout.
  copyFileSync(join(SOURCE, '../../package.json'), join(folder, 'package.json'))
  const main = await buildServerBundle(join(folder, 'dist/server'))
  const env = { NODE_COMPILE_CACHE: join(folder, 'compiled') }
  await fillCompileCache(main, env)
  return { main, env }
}

/**
 * Fills the compile cache of a bundle. Node.js writes it only when a process exits normally; killed
 * processes do not.
 */
export async function fillCompileCache(main: string, env?: NodeJS.ProcessEnv): Promise<void> {
  const start = pathToFileURL(join(main, '../start-command.mjs')).href
  await promisify(execFile)(process.execPath, ['--import', start, main, '--help'], { env })
}
