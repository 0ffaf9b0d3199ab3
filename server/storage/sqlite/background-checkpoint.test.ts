import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { BackgroundCheckpoint, MAX_IDLE_LOG } from './background-checkpoint.ts'

let folder: string
let path: string
let writer: DatabaseSync
let snapshots: DatabaseSync[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-'))
  path = join(folder, 'store.sqlite')
  writer = new DatabaseSync(path)
  writer.exec('pragma journal_mode = wal; pragma synchronous = off; create table rows (value)')
  snapshots = []
})
afterEach(() => {
  for (const each of [...snapshots, writer]) if (each.isOpen) each.close()
  rmSync(folder, { recursive: true })
})

const write = (bytes: number) => writer.prepare('insert into rows values (zeroblob(?))').run(bytes)
const databaseSize = () => statSync(path).size

function openSnapshot(): DatabaseSync {
  const snapshot = new DatabaseSync(path, { readOnly: true })
  snapshots.push(snapshot)
  snapshot.exec('begin; select 1 from sqlite_schema')
  return snapshot
}

/** Creates a checkpoint whose work lasts until the test ends it, and counts how often it begins. */
function held() {
  const ends: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = []
  const checkpoint = new BackgroundCheckpoint(writer, path, () => {
    const { promise, ...end } = Promise.withResolvers<void>()
    ends.push(end)
    return promise
  })
  return { checkpoint, ends }
}

test('a commit copies no log while the worker does, and does so again afterwards', async () => {
  const { checkpoint, ends } = held()
  const snapshot = openSnapshot()
  write(MAX_IDLE_LOG)
  const before = databaseSize()
  checkpoint.start()
  snapshot.close()
  write(1)
  expect(databaseSize()).toBe(before)
  ends[0]?.reject(new Error('the worker failed'))
  await checkpoint.ended()
  write(1)
  expect(databaseSize()).toBeGreaterThan(MAX_IDLE_LOG)
})

test('a snapshot that ends while the worker runs is followed by another checkpoint', async () => {
  const { checkpoint, ends } = held()
  const [first, second] = [openSnapshot(), openSnapshot()]
  write(MAX_IDLE_LOG)
  checkpoint.start()
  first.close()
  checkpoint.start()
  second.close()
  expect(ends).toHaveLength(1)
  ends[0]?.resolve()
  await expect.poll(() => ends).toHaveLength(2)
  ends[1]?.resolve()
  await checkpoint.ended()
  expect(ends).toHaveLength(2)
})

test('no worker starts if the log is short', async () => {
  const { checkpoint, ends } = held()
  const snapshot = openSnapshot()
  write(MAX_IDLE_LOG / 2)
  checkpoint.start()
  snapshot.close()
  await checkpoint.ended()
  expect(ends).toEqual([])
})

test('the worker copies the log as far as open snapshots allow', async () => {
  const checkpoint = new BackgroundCheckpoint(writer, path)
  const first = openSnapshot()
  write(MAX_IDLE_LOG)
  const second = openSnapshot()
  write(MAX_IDLE_LOG)
  checkpoint.start()
  first.close()
  await checkpoint.ended()
  expect(databaseSize()).toBeGreaterThan(MAX_IDLE_LOG)
  expect(databaseSize()).toBeLessThan(2 * MAX_IDLE_LOG)
  checkpoint.start()
  second.close()
  await checkpoint.ended()
  expect(databaseSize()).toBeGreaterThan(2 * MAX_IDLE_LOG)
})
