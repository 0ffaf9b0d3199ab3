// Builds the console if its sources or packages have changed since the last build. Plain JavaScript,
// because `npm start` also runs it on an old Node.js after an installation that failed.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { INSTALLS_WITH } from '../bin/needs-node.js'
import { hashConsoleInputs } from './hash-console-inputs.js'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Contains the hash of the inputs. Vite empties the folder before it writes there, so a build that
 * has not finished has no such file.
 */
const builtFrom = path.join(root, 'dist/console/.built-from')

async function loadVite() {
  try {
    return await import('vite')
  } catch (error) {
    const [reason] = String(error instanceof Error ? error.message : error).split(/\. |\n/)
    process.stderr.write(
      `The console cannot be built, because packages are missing (${reason}): ` +
        `run npm ci --include=dev --include=optional with ${INSTALLS_WITH}.\n`,
    )
    process.exit(1)
  }
}

const inputs = hashConsoleInputs(root)
if (!existsSync(builtFrom) || readFileSync(builtFrom, 'utf8') !== inputs) {
  const { build } = await loadVite()
  await build({ root, logLevel: 'warn' })
  writeFileSync(builtFrom, inputs)
}
