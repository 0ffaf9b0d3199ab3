import { beforeEach, expect, it, vi } from 'vitest'
import { invariant } from '../../contract/invariant.ts'
import type { Store } from '../../storage/store.ts'
import { storeDatabases } from '../../storage/test-support/databases.testing.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { createTestDocuments } from '../documents.testing.ts'
import type { Documents } from '../documents.ts'
import { openIndexesOf } from '../indexes/build/build-indexes.testing.ts'
import { KEY_BYTES } from '../indexes/index-key.ts'
import { INLINE_BYTES } from '../indexes/read/index-reader.ts'
import { parseDocumentQuery } from '../query/query.ts'
import {
  createDocumentRepository,
  type DocumentRepository,
} from '../repository/stored-documents.ts'
import { idsOn } from './ids-on-page.testing.ts'
import type { Page } from './read-page.ts'

/** Longer than a key of an index. */
const LONG = 'x'.repeat(KEY_BYTES)
const where = { database: 'db', collection: 'articles' }

forEachEngine((engine) => {
  let store: Store
  let repository: DocumentRepository
  let documents: Documents
  let indexes: ReturnType<typeof openIndexesOf>
  let reserved: number[]

  beforeEach(async () => {
    store = await engine.open()
    await storeDatabases(store, 'db')
    repository = createDocumentRepository(store)
    documents = createTestDocuments({ repository, now: () => 0 })
    reserved = []
    indexes = openIndexesOf(store)
    await indexes.put(where, 'by-a', ['a', 'b'])
    await indexes.build()
    for (const document of [
      { id: '1', a: 1, b: '\u{1f600}' },
      { id: '2', a: 1, b: 'x' },
      { id: '3', a: '1', b: 'y' },
      { id: '4', a: 'é', b: 'x\ny' },
      { id: '5', a: 'é', b: 'z' },
    ]) {
      await documents.create(where, JSON.stringify(document))
    }
  })

  const find = (query: string, count = false) =>
    documents.find(where, parseDocumentQuery(new URLSearchParams(query)), {
      count,
      reserve: (bytes) => {
        reserved.push(bytes)
        return undefined
      },
      signal: () => new AbortController().signal,
    })
  const viewOf = (page: Page) => ({ ids: idsOn(page).join(), scanned: page.scanned })

  it.each<[string, string, string, number]>([
    ['a page', 'a=é&sort=b', '4,5', 2],
    ['the first of several pages', 'a=é&sort=b&limit=1', '4', 2],
    ['the number and not the string of a text', 'a=1&b=x', '2', 1],
    ['the string and not the number of a text', 'a=1&b=y', '3', 1],
    ['a part of a range that is full', 'a:gte=1&sort=a,b&limit=1', '2', 2],
    ['no documents', 'a=2&b=x', '', 0],
  ])('one statement reads %s', async (_, query, ids, scanned) => {
    const found = find(query)
    // Reading entries takes several steps.
    expect(found instanceof Promise).toBe(engine.name === 'postgres')
    const page = await found
    expect(viewOf(page)).toEqual({ ids, scanned })
    expect(page.index).toBe('by-a')
    expect(reserved).toEqual([Buffer.byteLength(page.json as string)])
  })

  it('pairs documents with their tags in the order of the index', async () => {
    const ids = ['9', '8\n7', '8', '70']
    for (const [b, id] of ids.entries()) {
      await documents.create(where, JSON.stringify({ id, a: 'order', b, text: id.repeat(3) }))
    }
    const stored = await Promise.all(ids.map((id) => repository.read({ ...where, id })))
    for (const limit of [2, 3, 4, 5]) {
      const { json, tags, returned } = await find(`a=order&sort=b&limit=${limit}`)
      const expected = stored.slice(0, limit)
      expect(json).toBe(`[${expected.map((document) => document?.body)}]`)
      expect(tags).toBe(expected.map((document) => document?.tag).join('\n'))
      expect(returned).toBe(expected.length)
    }
  })

  it('selects fields of a page', async () => {
    const found = find('a=é&sort=b&fields=b')
    expect(found instanceof Promise).toBe(engine.name === 'postgres')
    expect((await found).json).toBe('[{"id":"4","b":"x\\ny"},{"id":"5","b":"z"}]')
  })

  it('selects fields without parsing the documents', async () => {
    const parse = vi.spyOn(JSON, 'parse')
    const page = await find('a=é&sort=b&fields=b')
    const texts = parse.mock.calls.map(([text]) => text)
    parse.mockRestore()
    expect(page.returned).toBe(2)
    expect(texts.filter((text) => text.includes('"id"'))).toEqual([])
  })

  it('reads documents with equal values backwards by ascending ids', async () => {
    const values = {
      '90': 4,
      '91': 4,
      '92': 3,
      '93': 3,
      '94': 3,
      '95': 3,
      '96': 2,
      '97': 1,
      '98': 1,
    }
    for (const [id, b] of Object.entries(values)) {
      await documents.create(where, JSON.stringify({ id, a: 'many', b }))
    }
    for (let limit = 1; limit <= 10; limit++) {
      const parameters = new URLSearchParams(`a=many&sort=-b&limit=${limit}`)
      const pages: string[] = []
      for (let next: Page['next'] | true = true; next !== undefined; ) {
        const page = await find(parameters.toString())
        next = page.next
        if (page.nextParameter !== undefined) parameters.set(...page.nextParameter)
        pages.push(idsOn(page).join())
      }
      expect(pages.join()).toBe(Object.keys(values).join())
      expect(pages.length).toBe(Math.ceil(9 / limit))
    }
  })

  it('continues backwards with the number and the string of a text', async () => {
    for (const document of [
      { id: '6', a: 7, b: 'm' },
      { id: '7', a: '7', b: 'x' },
      { id: '8', a: '7', b: 'x' },
    ]) {
      await documents.create(where, JSON.stringify(document))
    }
    const parameters = new URLSearchParams('a=7&sort=-b&limit=1')
    const ids: string[] = []
    for (let next: Page['next'] | true = true; next !== undefined; ) {
      const page = await find(parameters.toString())
      next = page.next
      if (page.nextParameter !== undefined) parameters.set(...page.nextParameter)
      ids.push(idsOn(page).join())
    }
    expect(ids).toEqual(['7', '8', '6'])
  })

  it('merges documents with the number and the string of a text', async () => {
    expect(viewOf(await find('a:in=1&sort=b'))).toEqual({ ids: '2,3,1', scanned: 3 })
  })

  it.each<[string, string, string]>([
    ['another condition', 'a=é&b:ne=z&sort=b', '4'],
    ['another condition on an indexed field', 'a=é&b:gt=a&b:contains=y&sort=b', '4'],
    ['arrays, which have the same key', 'a=array&b=[2]', '7'],
    ['strings that are truncated in keys', `a=long&b=${LONG}b`, '9'],
  ])('matches documents with %s', async (_, query, ids) => {
    for (const document of [
      { id: '6', a: 'array', b: [1] },
      { id: '7', a: 'array', b: [2] },
      { id: '8', a: 'long', b: `${LONG}a` },
      { id: '9', a: 'long', b: `${LONG}b` },
    ]) {
      await documents.create(where, JSON.stringify(document))
    }
    const page = await find(query)
    expect(idsOn(page).join()).toBe(ids)
    expect(page.index).toBe('by-a')
  })

  if (engine.name === 'postgres') {
    it('reads and counts by a unique index in the same way', async () => {
      await indexes.put(where, 'by-c', ['c'], true)
      await indexes.build()
      await documents.create(where, '{"id":"6","c":"x"}')
      const entries = () => Promise.reject(new Error('several steps'))
      const reader = { ...repository.indexes, entries }
      documents = createTestDocuments({
        repository: { ...repository, indexes: reader },
        now: () => 0,
      })
      expect(viewOf(await find('c=x'))).toEqual({ ids: '6', scanned: 1 })
      expect((await find('c=x', true)).total).toBe(1)
    })
  }

  it('continues after documents with equal values', async () => {
    const page = await find('a=é&sort=b&limit=1')
    const cursor = encodeURIComponent(page.nextParameter?.[1] ?? '')
    expect(viewOf(await find(`a=é&sort=b&limit=1&cursor=${cursor}`))).toEqual({
      ids: '5',
      scanned: 1,
    })
  })

  it('does not read large documents into one row', async () => {
    const text = 'x'.repeat(INLINE_BYTES / 2)
    await documents.create(where, JSON.stringify({ id: '6', a: 'é', b: 'zz', text }))
    const [index] = await repository.indexes.ready(where)
    invariant(index, 'the index is ready')
    const all = { key: Buffer.of(), id: '', upper: Buffer.of(0xff) }
    expect(await repository.indexes.page(where, index, all, undefined, 6)).toBeUndefined()
    expect(viewOf(await find('a=é&sort=b&limit=3'))).toEqual({ ids: '4,5,6', scanned: 3 })
  })

  it('counts the document after a page towards the size of its row', async () => {
    const text = 'x'.repeat(0.6 * INLINE_BYTES)
    for (const id of ['6', '7']) await documents.create(where, JSON.stringify({ id, a: -1, text }))
    const [index] = await repository.indexes.ready(where)
    invariant(index, 'the index is ready')
    const all = { key: Buffer.of(), id: '', upper: Buffer.of(0xff) }
    expect(await repository.indexes.page(where, index, all, undefined, 1)).toBeUndefined()
    expect(viewOf(await find('a=-1&sort=b&limit=1')).ids).toBe('6')
  })
})
