import { expect, it } from 'vitest'
import { invariant } from '../../contract/invariant.ts'
import { parseFieldList } from '../../contract/query/field-path.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import type { IndexDefinition } from '../indexes/definition.ts'
import { keyOfValues } from '../indexes/index-key.ts'
import { planQuery } from '../indexes/plan.ts'
import type { IndexReader } from '../indexes/read/index-reader.ts'
import { parseDocumentQuery } from '../query/query.ts'
import { BATCH_BYTES } from '../repository/scan-batch.ts'
import { readByIndex } from './read-by-index.ts'

const fields = parseFieldList('a', 'fields')
const index: IndexDefinition = { id: 1, name: 'by-a', fields, isUnique: false, state: 'ready' }
const key = keyOfValues(['x'], fields).bytes

/** A reader of three documents. Each of them fills a batch. */
const reader: IndexReader = {
  ready: async () => [index],
  isReady: async () => true,
  count: async () => ({ count: 0, last: undefined }),
  entries: async (_where, _index, { after }) =>
    after === undefined
      ? ['1', '2', '3'].map((id) => ({ key, id, bytes: BATCH_BYTES, document: undefined }))
      : [],
  documents: async (_, ids) =>
    new Map(ids.map((id) => [id, { id, tag: id, body: JSON.stringify({ id, a: 'x' }) }])),
}

it.each([false, true])(
  'reports the bytes of documents before each batch, counted: %s',
  async (count) => {
    const query = parseDocumentQuery(new URLSearchParams('a=x'))
    const plan = planQuery([index], { ...query, count })
    invariant(plan !== undefined, 'the index serves the query')
    const read: number[] = []
    const bounds = {
      reserve: async () => {},
      step: async <T>(_: number, bytes: number, step: () => T | Promise<T>) => {
        read.push(bytes)
        return step()
      },
    }
    const deps = { reader }
    const from = undefined
    await readByIndex(
      deps,
      { database: 'd', collection: 'c' },
      plan,
      { ...query, from, count },
      bounds,
    )
    expect([...new Set(read)]).toEqual([0, BATCH_BYTES, 2 * BATCH_BYTES, 3 * BATCH_BYTES])
  },
)

it.each([
  ['in order', 'a=x', []],
  ['sorted', 'a=x&sort=b', ['reserve']],
])('reserves memory before each batch: %s', async (_, parameters, atEnd) => {
  const query = { ...parseDocumentQuery(new URLSearchParams(parameters)), from: undefined }
  const plan = planQuery([index], { ...query, count: false })
  invariant(plan !== undefined, 'the index serves the query')
  const calls: string[] = []
  const deps = {
    reader: {
      ...reader,
      documents: async (where: CollectionRef, ids: readonly string[]) => {
        calls.push('read')
        return reader.documents(where, ids)
      },
    },
  }
  await readByIndex(
    deps,
    { database: 'd', collection: 'c' },
    plan,
    { ...query, count: false },
    {
      reserve: async () => void calls.push('reserve'),
      step: async (_entries, _bytes, step) => step(),
    },
  )
  const batch = ['reserve', 'read']
  expect(calls).toEqual([...batch, ...batch, ...batch, ...atEnd])
})
