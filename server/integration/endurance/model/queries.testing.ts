import { expect } from 'vitest'
import { pick, type Random } from '../settings.testing.ts'
import type { Body, Call, Model, Operation } from './model.testing.ts'

interface Query {
  readonly parameters: readonly string[]
  matches(document: Body): boolean
}

/** Compares two documents: missing fields come first, and documents with equal values by id. */
type Order = (a: Body, b: Body) => number

const FIRST = Number.NEGATIVE_INFINITY

const by =
  (field: 'v' | 'm', sign: 1 | -1): Order =>
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
]

function chooseQuery(random: Random, value: number): Query {
  const least = value - random(40)
  const has = random(2) === 0
  const filters: readonly Query[] = [
    { parameters: [], matches: () => true },
    { parameters: [`v:gte=${least}`], matches: ({ v }) => Number(v) >= least },
    { parameters: [`v=${least}`], matches: ({ v }) => v === least },
    { parameters: [`m:exists=${has}`], matches: ({ m }) => (m !== undefined) === has },
    {
      parameters: [`m:exists=${has}`, `v:lt=${least}`],
      matches: ({ m, v }) => (m !== undefined) === has && Number(v) < least,
    },
  ]
  return pick(random, filters)
}

/** Reads all pages of a query, and compares the documents and their count with the model. */
export function queryDocuments(
  model: Model,
  name: string,
  random: Random,
  value: number,
  call: Call,
): Operation {
  const { parameters, matches } = chooseQuery(random, value)
  const [sort, orders] = pick(random, ORDERS)
  const all = Object.values(model.databases[name]?.documents ?? {})
  const expected = all.filter(matches).sort((a, b) => {
    for (const order of orders) if (order(a, b) !== 0) return order(a, b)
    return byId(a, b)
  })
  const limit = 1 + random(Math.ceil(expected.length / 2) + 5)
  const given = [...parameters, ...(sort === '' ? [] : [`sort=${sort}`]), `limit=${limit}`]
  return {
    ...{ method: 'GET', path: `/_db/${name}/things?${given.join('&')}`, after: [model] },
    headers: { Prefer: 'count=exact' },
    async finish(first) {
      expect(first.headers['x-total-count']).toBe(String(expected.length))
      const pages: Body[][] = [first.json]
      for (let { headers } = first; headers.link !== undefined; ) {
        const [, path = ''] = /^<([^>]+)>; rel="next"$/.exec(String(headers.link)) ?? []
        const next = await call('GET', path)
        expect(next.status, path).toBe(200)
        pages.push(next.json)
        headers = next.headers
      }
      expect(pages.flat()).toEqual(expected)
      for (const page of pages.slice(0, -1)) expect(page).toHaveLength(limit)
    },
  }
}
