import { afterAll, beforeAll, expect, it } from 'vitest'
import { CHANGE_ROWS } from '../contract/document.ts'
import type { Change } from '../storage/changes/transactions.ts'
import { type EngineNode, forEachEngineNode } from '../test-support/each-engine-node.testing.ts'
import { createRecordEnd } from './record-end.ts'

const NDJSON = { 'Content-Type': 'application/x-ndjson' }
const ASYNC = { Prefer: 'respond-async' }
const lines = (count: number) =>
  Array.from({ length: count }, (_, n) => JSON.stringify({ id: `d${n}` })).join('\n')

forEachEngineNode((start) => {
  let node: EngineNode
  beforeAll(async () => {
    node = await start()
    await node.request('POST', '/_api/database', { name: 'blog' })
  })
  afterAll(() => node.stop())

  const send = (method: string, path: string, body?: unknown, headers = {}) =>
    node.request(method, `/_db/blog${path}`, body, { headers })
  /** Returns what the log says of a collection, oldest first. */
  const rowsOf = async (collection: string) => {
    const { json } = await node.request(
      'GET',
      `/_api/audit?what=collection&which=blog/${collection}`,
    )
    return json.rows
      .map(({ action, after, token }: Record<string, unknown>) => [action, after, token])
      .reverse()
  }
  const imported = (counts: object) => [
    'collection.import',
    { created: 0, replaced: 0, skipped: 0, failed: 0, complete: true, ...counts },
    'tests',
  ]
  const deleted = (count: number) => [
    'collection.delete',
    { deleted: count, complete: true },
    'tests',
  ]

  it('records imports and the deletion of a collection with their counts', async () => {
    await send('POST', '/a', lines(3), NDJSON)
    await send('POST', '/a?on-conflict=skip', lines(4), NDJSON)
    await send('DELETE', '/a')
    expect(await rowsOf('a')).toEqual([
      imported({ created: 3 }),
      imported({ created: 1, skipped: 3 }),
      deleted(4),
    ])
  })

  it('records those that jobs make when they end', async () => {
    const count = CHANGE_ROWS + 1
    expect((await send('POST', '/c', lines(count), { ...NDJSON, ...ASYNC })).status).toBe(202)
    await expect.poll(() => rowsOf('c')).toEqual([imported({ created: count })])
    expect((await send('DELETE', '/c')).status).toBe(202)
    await expect.poll(() => rowsOf('c')).toEqual([imported({ created: count }), deleted(count)])
  })

  it('does not record what changes nothing, or only some of the documents', async () => {
    await send('POST', '/d', { id: 'x' })
    await send('POST', '/d?on-conflict=skip', '{"id":"x"}', NDJSON)
    expect((await send('DELETE', '/d?id=x')).json).toEqual({ deleted: 1 })
    expect((await send('DELETE', '/d')).json).toEqual({ deleted: 0 })
    expect(await rowsOf('d')).toEqual([])
  })
})

it('an import that fails is recorded with what it has stored, and its error is kept', async () => {
  const recorded: unknown[] = []
  const trx = {} as Change
  const recordEnd = createRecordEnd({
    store: { change: (work) => work(trx) },
    record: async (_, ...entries) => void recorded.push(...entries),
    onRecorded() {},
    onError: () => expect.unreachable(),
  })
  const actor = { name: 'ada', by: 'session', address: null } as const
  const audit = { actor, action: 'collection.import', target: 'blog/a' } as const
  const failure = new Error('interrupted')
  const work = () => Promise.reject(failure)
  await expect(recordEnd.of(audit, () => ({ created: 7 }), work)).rejects.toBe(failure)
  expect(recorded).toMatchObject([{ target: 'blog/a', after: { created: 7, complete: false } }])
})
