import fc from 'fast-check'
import { expect, test } from 'vitest'
import { storeDatabases } from '../../storage/test-support/databases.testing.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { createDocuments, type Documents } from '../documents.ts'
import type { Json } from '../json/strict-json.ts'
import { createDocumentRepository } from '../repository/repository.ts'
import { parseDocumentQuery } from './query.ts'

// Generated documents and queries. The pages of a query, joined, must be what a plain reference
// returns, on both engines and while other documents of the collection change.

const ANY = { match: undefined, noneMatch: undefined }

type Document = { readonly [key: string]: Json }

const NAMES = ['a', 'b', 'a.b', 'c:d', ''] as const
const scalar = fc.oneof(
  fc.constantFrom<Json>(null, true, false, 0, 1, -1, 1e308, -1e308, 0.1, '0', '1', 'true', ''),
  fc.constantFrom<Json>('a', 'ab', 'é', '\uffff', '\u{1f600}', '\u{1f600}a', 'b,c', 'b\\c'),
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
const condition = fc.record({ path, operator, text })
const query = fc.record({
  conditions: fc.array(condition, { maxLength: 2 }),
  sort: fc.array(fc.record({ path, isDescending: fc.boolean() }), { maxLength: 2 }),
  limit: fc.integer({ min: 1, max: 7 }),
})
type Query = typeof query extends fc.Arbitrary<infer T> ? T : never

forEachEngine((engine) => {
  test('a query returns the same pages as a reference implementation, while other documents change', async () => {
    const store = await engine.open()
    await storeDatabases(store, 'db')
    const documents = createDocuments(createDocumentRepository(store), () => 0)
    let collections = 0
    const scenario = fc.asyncProperty(
      fc.array(fields, { maxLength: 25 }),
      fc.array(query, { minLength: 1, maxLength: 4 }),
      async (contents, queries) => {
        const where = { database: 'db', collection: `c${++collections}` }
        const stable = contents.map((each, at) => ({ ...each, id: `${at}s` }) as Document)
        for (const document of stable) await documents.create(where, JSON.stringify(document))
        await documents.create(where, '{"id":"0changing"}')
        for (const each of queries) {
          let changes = 0
          const found = await readAll(documents, where, each, async () => {
            const ref = { ...where, id: '0changing' }
            const next = stable[changes++ % stable.length] ?? {}
            await documents.replace(ref, JSON.stringify({ ...next, id: ref.id }), ANY)
          })
          expect(found.filter(({ id }) => id !== '0changing')).toEqual(reference(stable, each))
        }
      },
    )
    await fc.assert(scenario, { numRuns: 40 })
  }, 120_000)
})

/** Reads all pages of a query, and makes a change after each. */
async function readAll(
  documents: Documents,
  where: { readonly database: string; readonly collection: string },
  { conditions, sort, limit }: Query,
  change: () => Promise<void>,
): Promise<Document[]> {
  const parameters = new URLSearchParams({ limit: String(limit) })
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
  const found: Document[] = []
  for (;;) {
    const page = await documents.find(where, parseDocumentQuery(parameters), {
      count: true,
      reserve: async () => {},
      signal: new AbortController().signal,
    })
    const text = typeof page.json === 'string' ? page.json : Buffer.concat(page.json).toString()
    found.push(...(JSON.parse(text) as Document[]))
    if (page.nextParameter === undefined) return found
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
