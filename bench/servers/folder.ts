import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))

// Removes all files, however the run ends.
process.on('exit', () => rmSync(root, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

/** Creates a folder that is removed when the run ends. */
export function makeFolder(name: string): string {
  const path = join(root, name)
  mkdirSync(path, { recursive: true })
  return path
}
