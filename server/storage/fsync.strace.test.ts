import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-strace-'))
})

afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

test('acknowledges a write only after its log is synced to disk', () => {
  const trace = traceChild(5)
  for (let n = 1; n <= 5; n++) {
    const before = trace.indexOf(n === 1 ? 'say open' : `say acknowledged ${n - 1}`)
    const after = trace.indexOf(`say acknowledged ${n}`)
    expect(before).toBeGreaterThanOrEqual(0)
    expect(after).toBeGreaterThan(before)
    const between = trace.slice(before + 1, after)
    expect(between).toContain('write log')
    expect(between.lastIndexOf('sync log')).toBeGreaterThan(between.lastIndexOf('write log'))
  }
})

/** Returns the writes, syncs and output of a node that inserts `count` rows, in order. */
function traceChild(count: number): string[] {
  const output = join(folder, 'trace')
  const options = ['-f', '-y', '-e', 'trace=write,pwrite64,fsync,fdatasync', '-o', output]
  const script = join(import.meta.dirname, 'test-support/child-node.testing.ts')
  const child = [process.execPath, script, join(folder, 'data'), String(count)]
  const { status, stderr } = spawnSync('strace', [...options, ...child], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  expect(status, stderr).toBe(0)
  const lines = readFileSync(output, 'utf8').split('\n')
  // Other threads do not access the store, and would only interleave their calls.
  const main = `${lines[0]?.split(' ')[0]} `
  return lines
    .filter((line) => line.startsWith(main))
    .map((line) => deed(line.slice(main.length).trim()))
    .filter((line) => line !== undefined)
}

function deed(call: string): string | undefined {
  const said = /^write\(1<.*>, "(open|acknowledged \d+)\\n"/.exec(call)
  if (said !== null) return `say ${said[1]}`
  if (/^p?write(64)?\(\d+<[^>]*gatehouse\.sqlite-wal>/.test(call)) return 'write log'
  if (/^f(data)?sync\(\d+<[^>]*gatehouse\.sqlite-wal>/.test(call)) return 'sync log'
  return undefined
}
