import { expect, test } from 'vitest'
import { collectGarbage } from '../../test-support/collect-garbage.testing.ts'
import { parseDocumentQuery } from '../query/query.ts'
import type { ScanBatch } from '../repository/scan-batch.ts'
import type { DocumentRepository } from '../repository/stored-documents.ts'
import { readPage } from './read-page.ts'

const where = { database: 'db', collection: 'articles' }

/** Returns a repository whose scans return these batches, one after the other. */
function scanning(batches: Iterator<ScanBatch>): DocumentRepository {
  const scan = async () => batches.next().value as ScanBatch
  return { scan } as Partial<DocumentRepository> as DocumentRepository
}

const documentOf = (n: number, body = '{"a":1}') => ({ id: `d${1_000 + n}`, tag: 'tag', body })
const query = (text: string) => ({
  ...parseDocumentQuery(new URLSearchParams(text)),
  from: undefined,
  count: false,
})

test.each([
  ['in the order of ids', 'a=1&limit=9', 6],
  ['sorted', 'sort=a&limit=9', 3],
])('runs every batch as steps: %s', async (_, parameters, expected) => {
  let steps = 0
  let isInStep = false
  const batches = [0, 2, 4].map((n, at) => ({
    scanned: 2,
    last: `d${1_001 + n}`,
    isEnd: at === 2,
    documents: [documentOf(n), documentOf(n + 1)],
  }))
  const { scan } = scanning(batches.values())
  const repository = {
    scan: (...parameters: Parameters<typeof scan>) => {
      expect(isInStep).toBe(true)
      return scan(...parameters)
    },
  } as Partial<DocumentRepository> as DocumentRepository
  const page = await readPage({ repository }, where, query(parameters), {
    reserve: async () => expect(isInStep).toBe(false),
    async step(run) {
      steps++
      isInStep = true
      const result = await run()
      isInStep = false
      return result
    },
  })
  expect([page.returned, steps]).toEqual([6, expected])
})

test('a sorted scan keeps the documents of the page in memory, not their batches', async () => {
  const batchBytes = 1024 * 1024
  let used = 0
  function* batches(): Generator<ScanBatch> {
    for (let n = 0; n < 40; n++) {
      const body = JSON.stringify({ a: n, text: 'x'.repeat(100) })
      const batch = `${body}${'y'.repeat(batchBytes)}`
      const documents = [documentOf(n, batch.slice(0, body.length))]
      yield { scanned: 1, last: `d${1_000 + n}`, isEnd: false, documents }
    }
    collectGarbage()
    used = process.memoryUsage().heapUsed
    yield { scanned: 0, last: undefined, isEnd: true, documents: [] }
  }
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  const page = await readPage({ repository: scanning(batches()) }, where, query('sort=a&limit=100'))
  expect(page.returned).toBe(40)
  expect(used - before).toBeLessThan(10 * batchBytes)
})
