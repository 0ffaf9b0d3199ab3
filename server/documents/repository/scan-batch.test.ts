import { beforeEach, expect, test } from 'vitest'
import type { IdRange } from '../../storage/sql/id-range.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { BATCH_BYTES, createScanNext, type ScanNext, type ScanOptions } from './scan-batch.ts'
import { createDocumentRepository, type DocumentRepository } from './stored-documents.ts'

const where = { database: '_system', collection: 'articles' }

forEachEngine((engine) => {
  let repository: DocumentRepository
  let scan: ScanNext

  beforeEach(async () => {
    const store = await engine.open()
    repository = createDocumentRepository(store)
    scan = createScanNext(store)
  })

  const insert = (...documents: readonly { id: string; text?: string }[]) =>
    repository.insert(
      where,
      documents.map((each) => ({ id: each.id, body: JSON.stringify(each) })),
    )

  /** Returns the ids that each batch of a scan returns, and how many it looks at. */
  async function batchesOf(range: IdRange = {}, options?: ScanOptions) {
    const batches: { ids: string[]; scanned: number }[] = []
    for (let { after } = range; ; ) {
      const { documents, scanned, last, isEnd } = await scan(where, { ...range, after }, options)
      if (last !== undefined) batches.push({ ids: documents.map(({ id }) => id), scanned })
      if (isEnd) return batches
      after = last
    }
  }

  test('reads the documents that fit, and at least one', async () => {
    const half = 'x'.repeat(BATCH_BYTES / 2)
    await insert({ id: 'a' }, { id: 'b', text: half }, { id: 'c', text: `${half}${half}` })
    await insert({ id: 'd' }, { id: 'e' })
    const idsOf = async (range?: IdRange) => {
      const batches = (await batchesOf(range)).map(({ ids }) => ids)
      // The large one is read alone.
      expect(batches.filter((ids) => ids.includes('c'))).toEqual([['c']])
      return batches.flat().join('')
    }
    expect(await idsOf()).toBe('abcde')
    expect(await idsOf({ last: 'c' })).toBe('abc')
    expect(await idsOf({ isDescending: true })).toBe('edcba')
    expect(await idsOf({ after: 'd', last: 'b', isDescending: true })).toBe('cb')
  })

  test('returns those that contain one text of each group', async () => {
    const ids = ['\u{1}', '\n', '"', '\\', 'é', '😀']
    await insert(...ids.map((id) => ({ id, text: `${id}%_` })))
    const found = (required: ScanOptions['required']) =>
      batchesOf({}, { ...(required && { required }) })
    expect(await found([])).toEqual([{ ids, scanned: 6 }])
    expect(await found([['"id":"é"', '"id":"\\n"'], ['%_"']])).toEqual([
      { ids: ['\n', 'é'], scanned: 6 },
    ])
    expect(await found([['none']])).toEqual([{ ids: [], scanned: 6 }])
    expect(await batchesOf({}, { ids: ['é', 'none', '"'] })).toEqual([
      { ids: ['"', 'é'], scanned: 2 },
    ])
  })

  test('looks at a thousand documents at once', async () => {
    const ids = Array.from({ length: 2_001 }, (_, at) => `d${10_000 + at}`)
    await insert(...ids.map((id) => ({ id })))
    expect((await batchesOf()).map(({ scanned }) => scanned)).toEqual([1_000, 1_000, 1])
  })

  test('finds no documents in an empty collection', async () => {
    expect(await batchesOf()).toEqual([])
  })
})
