import { copyFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { watchPresence } from './file-presence.ts'

let folder: string
let path: string
let stop: () => void
let calls: (string | undefined)[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-presence-'))
  path = join(folder, 'file')
  writeFileSync(path, 'text')
  calls = []
  const paths = [path, join(folder, 'never-there')]
  stop = watchPresence(paths, (missing) => calls.push(missing), 5)
})

afterEach(() => {
  stop()
  rmSync(folder, { recursive: true })
})

const expectCalls = (expected: readonly unknown[]) => expect.poll(() => calls).toEqual(expected)

test('reports a file that was moved, and its return', async () => {
  renameSync(path, `${path}.away`)
  await expectCalls([path])
  renameSync(`${path}.away`, path)
  await expectCalls([path, undefined])
})

test('reports a file that was replaced by another with the same content', async () => {
  copyFileSync(path, `${path}.copy`)
  renameSync(`${path}.copy`, path)
  await expectCalls([path])
})

test('reports a file that was deleted', async () => {
  rmSync(path)
  await expectCalls([path])
})
