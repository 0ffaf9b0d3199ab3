import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'

/** The files and folders from which the console is built. */
export const CONSOLE_INPUTS = [
  'index.html',
  'sign-in.html',
  'web',
  'server/contract',
  'server/failure.ts',
  'vite.config.ts',
  'tools/compress-assets.ts',
  'tools/console-chunks.ts',
  'tools/name-if-used-by.ts',
  'tsconfig.json',
  'package.json',
  // The installed packages with their checksums. npm writes it.
  'node_modules/.package-lock.json',
]

/**
 * Returns a hash of the names and content of all {@link CONSOLE_INPUTS}, and of `NODE_ENV`.
 *
 * @param {string} root the folder of the checkout
 */
export function hashConsoleInputs(root) {
  const hash = createHash('sha256').update(process.env.NODE_ENV ?? '')
  for (const name of CONSOLE_INPUTS.flatMap((input) => [input, ...list(root, input)])) {
    const file = path.join(root, name)
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) continue
    const content = readFileSync(file)
    hash.update(`\0${name}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}

/** @param {string} root @param {string} input a file or a folder */
function list(root, input) {
  const folder = path.join(root, input)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return []
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  return names.map((name) => path.join(input, name))
}
