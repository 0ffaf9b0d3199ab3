import { expect, vi } from 'vitest'
import type { TestResponse } from '../../../test-support/start.testing.ts'
import { pick, type Random } from '../settings.testing.ts'
import { type Body, type Call, ENDED, type Model, type Operation } from './model.testing.ts'

interface Query {
  readonly parameters: readonly string[]
  matches(document: Body): boolean
}

/** Compares two documents: missing fields come first, and documents with equal values by id. */
type Order = (a: Body, b: Body) => number

const FIRST = Number.NEGATIVE_INFINITY

const by =
  (field: 'v' | 'm' | 'u', sign: 1 | -1): Order =>
  (a, b) => {
    const [one, other] = [Number(a[field] ?? FIRST), Number(b[field] ?? FIRST)]
    return one === other ? 0 : one < other ? -sign : sign
  }

const byId: Order = (a, b) => (String(a.id) < String(b.id) ? -1 : 1)

const ORDERS: readonly (readonly [string, readonly Order[]])[] = [
  ['', []],
  ['v', [by('v', 1)]],
  ['-v', [by('v', -1)]],
  ['m,-v', [by('m', 1), by('v', -1)]],
  ['-m,v', [by('m', -1), by('v', 1)]],
  ['-u', [by('u', -1)]],
]

function chooseQuery(random: Random, value: number): Query {
  const least = value - random(40)
  const has = random(2) === 0
  const filters: readonly Query[] = [
    { parameters: [], matches: () => true },
    { parameters: [`v:gte=${least}`], matches: ({ v }) => Number(v) >= least },
    { parameters: [`v=${least}`], matches: ({ v }) => v === least },
    { parameters: ['u:lt=20'], matches: ({ u }) => u !== undefined && Number(u) < 20 },
    { parameters: [`m:exists=${has}`], matches: ({ m }) => (m !== undefined) === has },
    {
      parameters: [`m:exists=${has}`, `v:lt=${least}`],
      matches: ({ m, v }) => (m !== undefined) === has && Number(v) < least,
    },
  ]
  return pick(random, filters)
}

/** Returns the documents of a query in its order. */
function findDocuments(
  model: Model,
  name: string,
  { matches }: Query,
  orders: readonly Order[],
): Body[] {
  const all = Object.values(model.databases[name]?.documents ?? {})
  return all.filter(matches).sort((a, b) => {
    for (const order of orders) if (order(a, b) !== 0) return order(a, b)
    return byId(a, b)
  })
}

/** Reads the pages that follow a response. `documentsOf` returns the documents of a page. */
async function readPages(
  first: TestResponse,
  call: Call,
  documentsOf: (json: unknown) => Body[],
): Promise<Body[][]> {
  const pages = [documentsOf(first.json)]
  for (let { headers } = first; headers.link !== undefined; ) {
    const [, path = ''] = /^<([^>]+)>; rel="next"$/.exec(String(headers.link)) ?? []
    const next = await call('GET', path)
    expect(next.status, path).toBe(200)
    pages.push(documentsOf(next.json))
    headers = next.headers
  }
  return pages
}

const asDocuments = (json: unknown) => json as Body[]

/** Reads documents by a query: in pages, as an export, or in a job. */
export const queryDocuments = (
  model: Model,
  name: string,
  random: Random,
  value: number,
  call: Call,
): Operation =>
  pick(random, [readInPages, readInPages, exportDocuments, listInJob])(
    model,
    name,
    random,
    value,
    call,
  )

/** Reads all pages of a query, and compares the documents and their count with the model. */
function readInPages(
  model: Model,
  name: string,
  random: Random,
  value: number,
  call: Call,
): Operation {
  const query = chooseQuery(random, value)
  const [sort, orders] = pick(random, ORDERS)
  const expected = findDocuments(model, name, query, orders)
  const limit = 1 + random(Math.ceil(expected.length / 2) + 5)
  const given = [...query.parameters, ...(sort === '' ? [] : [`sort=${sort}`]), `limit=${limit}`]
  return {
    method: 'GET',
    path: `/_db/${name}/things?${given.join('&')}`,
    after: [model],
    headers: { Prefer: 'count=exact' },
    async finish(first) {
      expect(first.headers['x-total-count']).toBe(String(expected.length))
      const pages = await readPages(first, call, asDocuments)
      expect(pages.flat()).toEqual(expected)
      for (const page of pages.slice(0, -1)) expect(page).toHaveLength(limit)
    },
  }
}

/** Exports the documents of a query. */
function exportDocuments(model: Model, name: string, random: Random, value: number): Operation {
  const query = chooseQuery(random, value)
  const [sort, orders] = pick(random, ORDERS)
  const expected = findDocuments(model, name, query, orders)
  const format = pick(random, ['ndjson', 'json', 'csv'] as const)
  const fields = random(2) === 0 ? undefined : ['m', 'u']
  const given = [
    ...query.parameters,
    ...(sort === '' ? [] : [`sort=${sort}`]),
    ...(fields === undefined ? [] : [`fields=${fields}`]),
    `export-as=${format}`,
  ]
  return {
    method: 'GET',
    path: `/_db/${name}/things?${given.join('&')}`,
    after: [model],
    async finish({ text }) {
      if (format === 'csv') expect(text).toBe(csvOf(expected, fields))
      else expect(parse(text, format)).toEqual(expected.map((each) => select(each, fields)))
    },
  }
}

function parse(text: string, format: 'ndjson' | 'json'): unknown {
  if (format === 'json') return JSON.parse(text)
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line))
}

/** Returns a document with its id and the selected fields; default: all. */
function select(document: Body, fields: readonly string[] | undefined): Body {
  const names = ['id', ...(fields ?? Object.keys(document))]
  return Object.fromEntries(Object.entries(document).filter(([name]) => names.includes(name)))
}

/** Returns documents as CSV. Without fields, the columns are in the order of their appearance. */
function csvOf(documents: readonly Body[], fields: readonly string[] | undefined): string {
  const names = fields ?? documents.flatMap((each) => Object.keys(each))
  const columns = [...new Set(['id', ...names])]
  const rows = documents.map((each) => columns.map((name) => each[name] ?? ''))
  return [columns, ...rows].map((row) => `${row.join(',')}\r\n`).join('')
}

/** Lists the documents of a query in a job. */
function listInJob(
  model: Model,
  name: string,
  random: Random,
  value: number,
  call: Call,
): Operation {
  const query = chooseQuery(random, value)
  const expected = findDocuments(model, name, query, [])
  const limit = 1 + random(Math.ceil(expected.length / 2) + 5)
  const given = [...query.parameters, `limit=${limit}`]
  return {
    method: 'GET',
    path: `/_db/${name}/things?${given.join('&')}`,
    after: [model],
    headers: { Prefer: 'respond-async' },
    status: 206,
    async finish(response) {
      // The first part has the matches among the first documents of the collection only.
      expect((await readPages(response, call, asDocuments)).flat()).toEqual(expected)
      const path = `${response.headers.location}?limit=${limit}`
      const first = await vi.waitUntil(async () => {
        const found = await call('GET', path)
        return found.status === 200 && found
      }, ENDED)
      expect(first.json).toMatchObject({ state: 'done', found: expected.length })
      const documentsOf = (page: unknown) => (page as { documents: Body[] }).documents
      expect((await readPages(first, call, documentsOf)).flat()).toEqual(expected)
    },
  }
}
