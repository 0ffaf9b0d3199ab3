import { beforeEach, expect, test } from 'vitest'
import type { IdRange } from '../../storage/sql/id-range.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import type { DocumentRepository } from './stored-documents.ts'
import { createDocumentRepository } from './stored-documents.ts'

const where = { database: '_system', collection: 'articles' }

forEachEngine((engine) => {
  let repository: DocumentRepository

  beforeEach(async () => {
    repository = createDocumentRepository(await engine.open())
  })

  const insert = (...documents: readonly { id: string }[]) =>
    repository.insert(
      where,
      documents.map((each) => ({ id: each.id, body: JSON.stringify(each) })),
    )

  /** Returns the ids of each batch of a scan. */
  async function batchesOf(maxBytes: number, range: IdRange = {}): Promise<string[][]> {
    const batches: string[][] = []
    for (let { after } = range; ; ) {
      const found = await repository.scan(where, { ...range, after }, maxBytes)
      const last = found.last ?? range.last
      const listed = await repository.list(where, { ...range, after, last }, 1_000)
      expect(found.documents ?? listed).toEqual(listed)
      expect(found.bytes).toBe(listed.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0))
      if (listed.length > 0) batches.push(listed.map(({ id }) => id))
      if (found.last === undefined && listed.length < 1_000) return batches
      after = listed.at(-1)?.id
    }
  }

  test('reads the documents that fit, and at least one', async () => {
    const text = 'é'.repeat(100)
    await insert({ id: 'a' }, { id: 'b', text } as never, { id: 'c' }, { id: 'd' })
    expect(await batchesOf(1_000)).toEqual([['a', 'b', 'c', 'd']])
    expect(await batchesOf(25)).toEqual([['a'], ['b'], ['c', 'd']])
    expect(await batchesOf(1)).toEqual([['a'], ['b'], ['c'], ['d']])
    expect(await batchesOf(25, { last: 'c' })).toEqual([['a'], ['b'], ['c']])
    expect(await batchesOf(25, { isDescending: true })).toEqual([['d', 'c'], ['b'], ['a']])
    const range = { after: 'd', last: 'b', isDescending: true }
    expect(await batchesOf(1_000, range)).toEqual([['c', 'b']])
  })

  test('reads ids and texts with any characters', async () => {
    const ids = ['\u{1}', '\n', '\u{1e}', '"', ',', '\\', 'é', '\u{ffff}', '😀']
    await insert(...ids.map((id) => ({ id, text: `${id}\n\u{1e},\\` })))
    expect(await batchesOf(10_000)).toEqual([ids])
    expect(await batchesOf(10_000, { isDescending: true })).toEqual([ids.toReversed()])
  })

  test('reads a collection in batches of a thousand documents', async () => {
    const ids = Array.from({ length: 2_000 }, (_, at) => `d${10_000 + at}`)
    await insert(...ids.map((id) => ({ id })))
    expect(await batchesOf(1024 * 1024)).toEqual([ids.slice(0, 1_000), ids.slice(1_000)])
    const { documents } = await repository.scan(where, {}, 1024 * 1024)
    expect(documents?.length).toBe(engine.name === 'postgres' ? 1_000 : undefined)
  })

  test('finds no documents in an empty collection', async () => {
    expect(await batchesOf(1_000)).toEqual([])
  })
})
