import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CONTAINS_LENGTH } from '../../contract/document.ts'
import { printFieldPath } from '../../contract/field-path.ts'
import type { Json } from '../../contract/strict-json.ts'
import { CASES } from '../../integration/endurance/settings.testing.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import { storeDatabases } from '../../storage/test-support/databases.testing.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { createDocuments, type Documents } from '../documents.ts'
import { createExporter, type Exporter } from '../export/exporter.ts'
import { openIndexesOf } from '../indexes/build/build-indexes.testing.ts'
import { KEY_BYTES } from '../indexes/index-key.ts'
import { createDocumentRepository } from '../repository/repository.ts'
import { parseDocumentQuery, parseExportQuery } from './query.ts'

// Generated documents, indexes and queries. The pages of a query, joined, must be what a plain
// reference returns, on both engines, with and without indexes, while they are built, and while other
// documents of the collection change.

const ANY = { match: undefined, noneMatch: undefined }

type Document = { readonly [key: string]: Json }

const NAMES = ['a', 'b', 'a.b', 'c:d', ''] as const
/** Longer than a key of an index. */
const LONG = 'x'.repeat(KEY_BYTES)
const scalar = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom<Json>(
      null,
      true,
      false,
      0,
      1,
      -1,
      1e308,
      -1e308,
      0.1,
      '0',
      '1',
      'true',
      '',
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom<Json>(
      'a',
      'ab',
      'é',
      '\uffff',
      '\u{1f600}',
      '\u{1f600}a',
      'b,c',
      'b\\c',
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom<Json>(LONG, `${LONG}a`, `${LONG}b`) },
  fc.integer({ min: -3, max: 3 }),
)
const value = fc.oneof(
  { weight: 4, arbitrary: scalar },
  fc.array(scalar, { maxLength: 2 }),
  fc.record({ a: scalar, b: scalar }, { requiredKeys: [] }),
)
const fields = fc.dictionary(fc.constantFrom(...NAMES), value, { noNullPrototype: true })

const escapeName = (name: string) => name.replace(/[.,:\\]/g, '\\$&')
const path = fc
  .oneof(
    fc.constantFrom(...NAMES).map((name) => [name]),
    fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom('a', 'b')),
  )
  .filter(([name, ...rest]) => name !== '' || rest.length > 0)
const text = scalar.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)))
const operator = fc.constantFrom('eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'in', 'starts', 'contains')
const condition = fc
  .record({ path, operator, text })
  .filter((each) => each.operator !== 'contains' || each.text.length <= CONTAINS_LENGTH)
const query = fc.record({
  conditions: fc.array(condition, { maxLength: 2 }),
  sort: fc.array(fc.record({ path, isDescending: fc.boolean() }), { maxLength: 2 }),
  limit: fc.integer({ min: 1, max: 7 }),
  count: fc.boolean(),
  /** How many conditions have their field in an index, and whether it has those of the order. */
  served: fc.nat({ max: 2 }),
  servesOrder: fc.boolean(),
  isReversed: fc.boolean(),
})
const indexFields = fc.uniqueArray(fc.record({ path, isDescending: fc.boolean() }), {
  minLength: 1,
  maxLength: 3,
  selector: ({ path }) => printFieldPath(path),
})
const indexes = fc.record({
  fields: fc.array(indexFields, { maxLength: 2 }),
  /** When the indexes are created, as a share of the documents, and whether they are complete. */
  after: fc.double({ min: 0, max: 1, noNaN: true }),
  areReady: fc.boolean(),
})
type Query = typeof query extends fc.Arbitrary<infer T> ? T : never

forEachEngine((engine) => {
  test(
    'a query returns the same pages as a reference implementation, while other documents change',
    async () => {
      const store = await engine.open()
      await storeDatabases(store, 'db')
      const documents = createDocuments(createDocumentRepository(store), () => 0)
      const exporter = createExporter(store)
      const stored = openIndexesOf(store)
      let collections = 0
      let indexed = 0
      const scenario = fc.asyncProperty(
        fc.array(fields, { maxLength: 25 }),
        fc.array(query, { minLength: 1, maxLength: 4 }),
        indexes,
        async (contents, queries, { fields, after, areReady }) => {
          const where = { database: 'db', collection: `c${++collections}` }
          const stable = contents.map((each, at) => ({ ...each, id: `${at}s` }) as Document)
          for (const [at, document] of stable.entries()) {
            if (at === Math.floor(after * stable.length)) await createIndexes()
            await documents.create(where, JSON.stringify(document))
          }
          await documents.create(where, '{"id":"0changing"}')
          if (areReady) await stored.build()
          else stored.builder.wake()
          for (const each of queries) {
            let changes = 0
            const found = await readAll(documents, where, each, async () => {
              const ref = { ...where, id: '0changing' }
              const next = stable[changes++ % stable.length] ?? {}
              await documents.replace(ref, JSON.stringify({ ...next, id: ref.id }), ANY)
            })
            indexed += found.indexed
            expect(found.documents.filter(isStable)).toEqual(reference(stable, each))
            const exported = await exportAll(exporter, where, each)
            expect(exported.filter(isStable)).toEqual(reference(stable, each))
          }

          async function createIndexes(): Promise<void> {
            for (const [at, list] of [...fields, ...queries.map(fieldsOf)].entries()) {
              const unique = new Map(
                list.toReversed().map((each) => [printFieldPath(each.path), each]),
              )
              const texts = [...unique.values()]
                .toReversed()
                .map(({ path, isDescending }) => (isDescending ? '-' : '') + printFieldPath(path))
              if (texts.length > 0) await stored.put(where, `i${at}`, texts)
            }
          }
        },
      )
      try {
        await fc.assert(scenario, { numRuns: 40 * CASES })
      } finally {
        await stored.builder.stop()
      }
      expect(indexed).toBeGreaterThan(3 * CASES)
      expect(stored.errors).toEqual([])
    },
    120_000 * CASES,
  )
})

/** Returns the fields of an index that serves a query, or parts of it. */
const fieldsOf = ({ conditions, sort, served, servesOrder, isReversed }: Query) => [
  ...conditions.slice(0, served).map((each) => ({ path: each.path, isDescending: false })),
  ...(servesOrder
    ? sort.map((each) => ({ ...each, isDescending: each.isDescending !== isReversed }))
    : []),
]

const isStable = ({ id }: Document) => id !== '0changing'

function parametersOf(conditions: Query['conditions'], sort: Query['sort']): URLSearchParams {
  const parameters = new URLSearchParams()
  for (const { path, operator, text } of conditions) {
    const value = operator === 'in' ? text.replace(/[\\,]/g, '\\$&') : text
    parameters.append(`${path.map(escapeName).join('.')}:${operator}`, value)
  }
  if (sort.length > 0) {
    const list = sort.map(
      (each) => (each.isDescending ? '-' : '') + each.path.map(escapeName).join('.'),
    )
    parameters.set('sort', list.join(','))
  }
  return parameters
}

/** Exports the documents of a query. */
async function exportAll(
  exporter: Exporter,
  where: CollectionRef,
  { conditions, sort }: Query,
): Promise<Document[]> {
  const parameters = parametersOf(conditions, sort)
  const { chunks } = await exporter.begin(
    where,
    parseExportQuery(parameters),
    'ndjson',
    new AbortController().signal,
  )
  let text = ''
  for await (const chunk of chunks) text += chunk
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Document)
}

/** Reads all pages of a query, and makes a change after each. */
async function readAll(
  documents: Documents,
  where: { readonly database: string; readonly collection: string },
  { conditions, sort, limit, count }: Query,
  change: () => Promise<void>,
): Promise<{ readonly documents: Document[]; readonly indexed: number }> {
  const parameters = parametersOf(conditions, sort)
  parameters.set('limit', String(limit))
  const found: Document[] = []
  let indexed = 0
  for (;;) {
    const page = await documents.find(where, parseDocumentQuery(parameters), {
      count,
      reserve: async () => {},
      signal: () => new AbortController().signal,
    })
    const text = typeof page.json === 'string' ? page.json : Buffer.concat(page.json).toString()
    found.push(...(JSON.parse(text) as Document[]))
    if (page.index !== undefined) indexed++
    if (page.nextParameter === undefined) return { documents: found, indexed }
    parameters.set(...page.nextParameter)
    await change()
  }
}

function reference(documents: readonly Document[], { conditions, sort }: Query): Document[] {
  const at = (document: Json, path: readonly string[]): Json | undefined =>
    path.reduce<Json | undefined>(
      (value, name) =>
        typeof value === 'object' && value !== null && !Array.isArray(value)
          ? Object.entries(value).find(([key]) => key === name)?.[1]
          : undefined,
      document,
    )
  const equals = (value: Json | undefined, text: string) =>
    typeof value === 'string' ? value === text : JSON.stringify(value) === text
  const order = (value: Json | undefined, text: string): number | undefined => {
    if (typeof value === 'string') return byCodePoints(value, text)
    const isNumber = /^-?[0-9.]+(e[+-]?[0-9]+)?$/.test(text)
    return typeof value === 'number' && isNumber ? Math.sign(value - Number(text)) : undefined
  }
  const matches = (document: Document) =>
    conditions.every(({ path, operator, text }) => {
      const value = at(document, path)
      const compared = order(value, text)
      switch (operator) {
        case 'eq':
        case 'in':
          return equals(value, text)
        case 'ne':
          return !equals(value, text)
        case 'starts':
          return typeof value === 'string' && value.startsWith(text)
        case 'contains':
          return typeof value === 'string'
            ? value.includes(text)
            : Array.isArray(value) && value.some((each) => equals(each, text))
        default: {
          if (compared === undefined) return false
          if (compared === 0) return operator.endsWith('e')
          return operator.startsWith(compared < 0 ? 'l' : 'g')
        }
      }
    })
  const rank = (value: Json | undefined) =>
    value === undefined
      ? 0
      : value === null
        ? 1
        : (['boolean', 'number', 'string', 'object'] as string[]).indexOf(typeof value) + 2
  const compare = (one: Json | undefined, other: Json | undefined): number => {
    if (rank(one) !== rank(other)) return rank(one) - rank(other)
    if (typeof one === 'string') return byCodePoints(one, other as string)
    if (typeof one === 'number' || typeof one === 'boolean') return Number(one) - Number(other)
    return 0
  }
  return documents.filter(matches).sort((one, other) => {
    for (const { path, isDescending } of sort) {
      const difference = compare(at(one, path), at(other, path))
      if (difference !== 0) return isDescending ? -difference : difference
    }
    return byCodePoints(one.id as string, other.id as string)
  })
}

/** Compares texts by code points. */
function byCodePoints(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}
