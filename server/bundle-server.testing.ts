import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'vite'
import { MAIN } from './server-process.testing.ts'

/** A server that starts in a third of the time: for tests that start it hundreds of times. */
export interface BundledServer {
  /** The file to run, in place of `server/main.ts`. */
  readonly main: string
  /** Belongs into its environment. */
  readonly env: Readonly<Record<string, string>>
}

/** Puts `server/main.ts` and all that it imports into one file in `folder`, compiled once for all. */
export async function bundleServer(folder: string): Promise<BundledServer> {
  await build({
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true, external: ['pg-native'] },
    build: {
      ssr: MAIN,
      outDir: folder,
      emptyOutDir: false,
      minify: true,
      rolldownOptions: {
        output: { format: 'esm', entryFileNames: 'main.mjs', codeSplitting: false },
      },
    },
  })
  const main = join(folder, 'main.mjs')
  const env = { NODE_COMPILE_CACHE: join(folder, 'compiled') }
  // What was compiled is written when a process ends by itself, which those to come will not.
  await promisify(execFile)(process.execPath, [main, '--help'], { env })
  return { main, env }
}
