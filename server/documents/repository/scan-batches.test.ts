import { beforeEach, expect, test } from 'vitest'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { createDocumentRepository } from './repository.ts'
import type { DocumentRepository } from './stored-documents.ts'

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
  async function batchesOf(maxBytes: number, last?: string): Promise<string[][]> {
    const batches: string[][] = []
    for (let after: string | undefined; ; ) {
      const found = await repository.scan(where, after, maxBytes, last)
      const listed = await repository.list(where, after, 1_000, found.last ?? last)
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
    expect(await batchesOf(25, 'c')).toEqual([['a'], ['b'], ['c']])
  })

  test('reads ids and texts with any characters', async () => {
    const ids = ['\u{1}', '\n', '\u{1e}', '"', ',', '\\', 'é', '\u{ffff}', '😀']
    await insert(...ids.map((id) => ({ id, text: `${id}\n\u{1e},\\` })))
    expect(await batchesOf(10_000)).toEqual([ids])
  })

  test('reads a collection in batches of a thousand documents', async () => {
    const ids = Array.from({ length: 2_000 }, (_, at) => `d${10_000 + at}`)
    await insert(...ids.map((id) => ({ id })))
    expect(await batchesOf(1024 * 1024)).toEqual([ids.slice(0, 1_000), ids.slice(1_000)])
    const { documents } = await repository.scan(where, undefined, 1024 * 1024)
    expect(documents?.length).toBe(engine.name === 'postgres' ? 1_000 : undefined)
  })

  test('finds no documents in an empty collection', async () => {
    expect(await batchesOf(1_000)).toEqual([])
  })
})
