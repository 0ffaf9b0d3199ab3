import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CASES } from '../../integration/endurance/settings.testing.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import { storeDatabases } from '../../storage/test-support/databases.testing.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { createTestDocuments } from '../documents.testing.ts'
import type { Documents } from '../documents.ts'
import { createExporter, type Exporter } from '../export/exporter.ts'
import { openSlowIndexes } from '../indexes/build/slow-build.testing.ts'
import { parseDocumentQuery, parseExportQuery } from '../query/query.ts'
import { createDocumentRepository } from '../repository/stored-documents.ts'
import {
  type Change,
  CONCURRENT,
  change,
  createOtherClients,
  isStable,
  MAX_OTHERS,
  type OtherClients,
} from './other-clients.testing.ts'
import {
  contents,
  type Document,
  fieldsServing,
  indexFields,
  PAGED,
  parametersOf,
  printIndexFields,
  type Query,
  query,
} from './queries.testing.ts'
import { findByReference, matchesAll } from './reference.testing.ts'

// Generated documents, indexes and queries. The pages of a query, joined, must be what a plain
// reference returns, on both engines, with and without indexes, while they are built, and while
// other clients create, change and delete documents, also during a page.

const indexes = fc.record({
  fields: fc.array(indexFields, { maxLength: 2 }),
  /** How many documents precede the indexes. */
  after: fc.nat({ max: 24 }),
  /** Whether the indexes that serve the queries are complete. */
  areReady: fc.boolean(),
})

forEachEngine((engine) => {
  test(
    'a query returns the same pages as a reference implementation, while other documents change',
    async () => {
      const store = await engine.open()
      await storeDatabases(store, 'db')
      const documents = createTestDocuments({
        repository: createDocumentRepository(store),
        now: () => 0,
      })
      const exporter = createExporter(store)
      const stored = openSlowIndexes(store)
      let collections = 0
      /** Number of pages that an index served, and that were read beside a partly built one. */
      const pages = { indexed: 0, duringBuild: 0 }
      const scenario = fc.asyncProperty(
        fc.array(contents, { maxLength: 25, size: 'max' }),
        fc.array(query, { minLength: 1, maxLength: 4 }),
        indexes,
        fc.array(change, { minLength: 1, maxLength: 12 }),
        async (all, queries, { fields, after, areReady }, changes) => {
          const where = { database: 'db', collection: `c${++collections}` }
          const clients = createOtherClients(documents, where)
          const serving = queries.map(fieldsServing)
          for (const [at, each] of all.entries()) {
            if (at === after % all.length) await createIndexes()
            await clients.create({ ...each, id: `${at}s` })
          }
          await stored.build()
          let changed = 0
          const nextChange = () => changes[changed++ % changes.length] as Change
          const reads = { documents, stored, where, clients, nextChange, pages }
          for (const [at, each] of queries.entries()) {
            if (!areReady && (await put(`q${at}`, serving[at]))) await stored.begin()
            const found = await readAll(reads, each)
            await stored.end()
            const stable = [...clients.current.values()].filter(isStable)
            expect(found.filter(isStable)).toEqual(findByReference(stable, each))
            const exported = await exportDuring(exporter, where, each, clients, () =>
              clients.make(nextChange()),
            )
            expect(exported.states).toContainEqual(exported.documents)
          }

          async function createIndexes(): Promise<void> {
            const lists = areReady ? [...fields, ...serving] : fields
            for (const [at, list] of lists.entries()) await put(`i${at}`, list)
          }
          /** Creates an index; returns false if it would have no fields. */
          async function put(name: string, fields: Parameters<typeof printIndexFields>[0] = []) {
            const texts = printIndexFields(fields)
            if (texts.length > 0) await stored.put(where, name, texts)
            return texts.length > 0
          }
        },
      )
      try {
        await fc.assert(scenario, {
          numRuns: 30 * CASES,
          // Pages by a complete index, and pages while an index is built.
          examples: [true, false].map((areReady) => [
            PAGED.contents,
            [PAGED.query],
            { fields: [], after: 0, areReady },
            [CONCURRENT],
          ]),
        })
      } finally {
        await stored.end()
        await stored.builder.stop()
      }
      expect(pages.indexed).toBeGreaterThan(CASES)
      expect(pages.duringBuild).toBeGreaterThan(CASES)
      expect(stored.errors).toEqual([])
    },
    120_000 * CASES,
  )
})

/**
 * Exports the documents of a query during a change. Returns them, and what the query finds before
 * and after the change.
 */
async function exportDuring(
  exporter: Exporter,
  where: CollectionRef,
  query: Query,
  { current }: OtherClients,
  makeChange: () => Promise<void>,
): Promise<{ readonly documents: Document[]; readonly states: Document[][] }> {
  const before = findByReference(current.values(), query)
  const changing = makeChange()
  const { chunks } = await exporter.begin(
    where,
    parseExportQuery(parametersOf(query), 'ndjson'),
    'ndjson',
    new AbortController().signal,
  )
  let text = ''
  for await (const chunk of chunks) text += chunk
  await changing
  const lines = text.split('\n').slice(0, -1)
  return {
    documents: lines.map((line) => JSON.parse(line) as Document),
    states: [before, findByReference(current.values(), query)],
  }
}

interface Reads {
  readonly documents: Documents
  readonly stored: ReturnType<typeof openSlowIndexes>
  readonly where: CollectionRef
  readonly clients: OtherClients
  readonly nextChange: () => Change
  readonly pages: { indexed: number; duringBuild: number }
}

/**
 * Reads all pages of a query. Between two pages, or during the second, another client makes a
 * change, and a build makes a step.
 */
async function readAll(reads: Reads, query: Query): Promise<Document[]> {
  const { documents, stored, where, clients, nextChange, pages } = reads
  const { conditions, count, limit } = query
  const parameters = parametersOf(query)
  parameters.set('limit', String(limit))
  const find = async () => {
    const partly = await stored.partlyBuilt(where)
    const page = await documents.find(where, parseDocumentQuery(parameters), {
      count,
      reserve: async () => {},
      signal: () => new AbortController().signal,
    })
    const stillPartly = await stored.partlyBuilt(where)
    if (stillPartly.some((each) => partly.includes(each))) pages.duringBuild++
    if (page.index !== undefined) pages.indexed++
    return page
  }
  const totalOf = (all: Iterable<Document>) =>
    count ? [...all].filter((each) => matchesAll(each, conditions)).length : undefined
  const found: Document[] = []
  for (let isFirst = true; ; isFirst = false) {
    const made = nextChange()
    const isConcurrent = made.isConcurrent && !isFirst
    if (!isConcurrent) await clients.make(made)
    const expected = totalOf(clients.current.values())
    const finding = find()
    if (isConcurrent) await clients.make(made)
    const page = await finding
    const text = typeof page.json === 'string' ? page.json : Buffer.concat(page.json).toString()
    const shown = JSON.parse(text) as Document[]
    for (const each of shown.filter((document) => !isStable(document))) {
      const states = clients.versions.filter(({ id }) => id === each.id)
      expect(findByReference(states, query)).toContainEqual(each)
    }
    if (isConcurrent && expected !== undefined) {
      const fewest = totalOf([...clients.current.values()].filter(isStable)) ?? 0
      expect(page.total).toBeGreaterThanOrEqual(fewest)
      expect(page.total).toBeLessThanOrEqual(fewest + MAX_OTHERS)
    } else {
      expect(page.total).toBe(expected)
    }
    found.push(...shown)
    if (page.nextParameter === undefined) return found
    parameters.set(...page.nextParameter)
    stored.step()
  }
}
