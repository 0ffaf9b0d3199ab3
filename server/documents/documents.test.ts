import { expect, it, vi } from 'vitest'
import { PAGE } from '../contract/document.ts'
import { forEachEngine } from '../storage/test-support/each-engine.testing.ts'
import { createBodyOf, readCreateBody } from './creation-routes.ts'
import { createTestDocuments } from './documents.testing.ts'
import { idsOn } from './find/ids-on-page.testing.ts'
import type { ScanBounds } from './find/read-page.ts'
import type { CreateManyOptions } from './import/create-many.ts'
import { parseDocumentQuery } from './query/query.ts'
import { createDocumentRepository, type DocumentRepository } from './repository/stored-documents.ts'

const WHERE = { database: 'a', collection: 'b' }

/** Returns the numbers of documents requested from the repository for a page without a filter. */
async function limitsOf(limit: number): Promise<number[]> {
  const limits: number[] = []
  const indexes: Pick<DocumentRepository['indexes'], 'ready'> = { ready: () => [] }
  const repository: Pick<DocumentRepository, 'list' | 'extent'> = {
    extent: async () => ({ last: undefined, bytes: 0 }),
    async list(_where, _after, limit) {
      limits.push(limit)
      return []
    },
  }
  const documents = createTestDocuments({
    repository: { ...repository, indexes } as DocumentRepository,
    now: () => 0,
    check: () => undefined,
  })
  await documents.readInIdOrder(WHERE, [], undefined, limit)
  return limits
}

it('reads no more of a collection than a page needs', async () => {
  expect(await limitsOf(1)).toEqual([2])
})

it.each(['create', 'replace', 'patch'] as const)(
  'handles large bodies that arrive together in separate turns of the event loop: %s',
  async (change) => {
    let turn = 0
    const stored: number[] = []
    const store = async () => void stored.push(turn)
    const found = { id: 'a', tag: 'b', body: '{}' }
    const repository: Pick<DocumentRepository, 'insert' | 'read' | 'update'> = {
      insert: async () => store().then(() => ({ tags: ['c'] })),
      read: () => found,
      update: async () => store().then(() => 'c'),
    }
    const documents = createTestDocuments({
      repository: repository as DocumentRepository,
      now: () => 0,
    })
    const text = `{ "text": "${'x'.repeat(100_000)}" }`
    const send = () =>
      change === 'create'
        ? documents.create(WHERE, text)
        : documents[change]({ ...WHERE, id: 'a' }, text, { match: undefined, noneMatch: undefined })
    let next = setImmediate(function count() {
      turn++
      next = setImmediate(count)
    })
    await Promise.all([send(), send(), send()])
    clearImmediate(next)
    expect(new Set(stored).size).toBe(3)
  },
)

/** Options of arrays that are stored without a job. */
const NO_JOB: CreateManyOptions = {
  onConflict: 'fail',
  respondAsync: false,
  beginImport: () => Promise.reject(new Error('a job')),
}

/**
 * Returns a query that only the last of 2,500 documents matches, and the number of reads so far.
 */
function sparse() {
  let reads = 0
  const bodies = Array.from({ length: 2_500 }, (_, n) => {
    const id = String(n).padStart(4, '0')
    return { id, tag: '', body: JSON.stringify({ id, last: n === 2_499 }) }
  })
  const indexes: Pick<DocumentRepository['indexes'], 'ready'> = { ready: async () => [] }
  const repository: Pick<DocumentRepository, 'scan'> = {
    async scan(_where, { after = '' }) {
      reads++
      const documents = bodies.filter(({ id }) => id > after).slice(0, PAGE.max)
      const { length: scanned } = documents
      return { scanned, last: documents.at(-1)?.id, isEnd: scanned < PAGE.max, documents }
    },
  }
  const documents = createTestDocuments({
    repository: { ...repository, indexes } as DocumentRepository,
    now: () => 0,
  })
  return {
    reads: () => reads,
    find: (query: string, signal: AbortSignal) =>
      documents.find(WHERE, parseDocumentQuery(new URLSearchParams(query)), {
        count: false,
        reserve: async () => {},
        signal: () => signal,
      }),
    page: (bounds?: ScanBounds) =>
      documents.readInIdOrder(WHERE, [['last', 'true']], undefined, 9, bounds),
  }
}

it('yields while a filter scans many documents', async () => {
  const { page, reads } = sparse()
  let turns = 0
  const turn = () => {
    turns++
    if (reads() < 3) setImmediate(turn)
  }
  setImmediate(turn)
  expect(idsOn(await page())).toEqual(['2499'])
  expect(turns).toBeGreaterThanOrEqual(2)
})

it('returns a cursor when the scan limit is reached', async () => {
  const { page, reads } = sparse()
  expect(await page({ batches: 1 })).toMatchObject({
    returned: 0,
    json: '[]',
    next: { id: '0999' },
  })
  expect(reads()).toBe(1)
})

it.each(['last=true', 'sort=last', 'fields=last'])(
  'stops a query with %s when its client disconnects',
  async (query) => {
    const { find, reads } = sparse()
    await expect(find(query, AbortSignal.abort())).rejects.toMatchObject({ code: 'busy' })
    expect(reads()).toBe(0)
  },
)

it('returns the deleted state if another change came first', async () => {
  const states = ['first', 'second'].map((tag) => ({ id: 'a', tag, body: `"${tag}"` }))
  const repository: Pick<DocumentRepository, 'read' | 'delete'> = {
    read: async () => states.shift(),
    // The first state has changed before it is deleted.
    delete: async (_place, { tag }) => tag === 'second',
  }
  const documents = createTestDocuments({
    repository: repository as DocumentRepository,
    now: () => 0,
  })
  const conditions = { match: undefined, noneMatch: undefined }
  const deleted = await documents.delete({ database: 'a', collection: 'b', id: 'a' }, conditions)
  expect(deleted.tag).toBe('second')
})

/** Creates the documents of an array, and returns whether its body was closed. */
async function createFrom(text: string, respondAsync: boolean): Promise<boolean> {
  let isClosed = false
  async function* chunks() {
    try {
      for (const each of [text, '{}', ',{}]']) yield Buffer.from(each)
    } finally {
      isClosed = true
    }
  }
  const body = await readCreateBody(chunks())
  if (!('parts' in body)) throw new Error('no array')
  const documents = createTestDocuments({ repository: {} as DocumentRepository, now: () => 0 })
  await expect(
    documents.createMany(WHERE, body.parts, { ...NO_JOB, respondAsync }),
  ).rejects.toThrow()
  return isClosed
}

it.each([
  ['that has an invalid document', `[${'1,'.repeat(300)}`, false],
  ['that is rejected before its rest is read', `[${'{},'.repeat(12_000)}`, false],
  ['that is rejected before it is read', '[{},', true],
])('closes the body of an array %s', async (_, text, respondAsync) => {
  expect(await createFrom(text, respondAsync)).toBe(true)
})

forEachEngine((engine) => {
  it('yields while a large array is stored, which becomes visible as a whole', async () => {
    const store = await engine.open()
    const repository = createDocumentRepository(store)
    const where = { database: '_system', collection: 'many' }
    // PostgreSQL runs a query per document, which takes longer and yields to the event loop anyway.
    const count = store.engine === 'sqlite' ? 1_000 : 400
    const seen = new Set<number>()
    let turns = 0
    let ended = false
    const nextTurn = () => new Promise((resolve) => setImmediate(resolve))
    const counting = (async () => {
      for (; !ended; turns++) await nextTurn()
    })()
    const looking = (async () => {
      for (; !ended; await nextTurn()) {
        seen.add((await repository.list(where, {}, 9)).length)
      }
    })()
    const array = Buffer.from(JSON.stringify(Array.from({ length: count }, (_, n) => ({ n }))))
    const body = createBodyOf(array)
    if (!('parts' in body)) throw new Error('no array')
    const created = await createTestDocuments({ repository, now: () => 0 }).createMany(
      where,
      body.parts,
      NO_JOB,
    )
    expect(created).toMatchObject({ tags: { length: count } })
    ended = true
    await Promise.all([counting, looking])
    // Some turns parse the documents, some store them.
    expect(turns).toBeGreaterThan(6)
    expect([...seen].filter((count) => count !== 0 && count !== 9)).toEqual([])
  })

  it('each of many concurrent changes reads its document once', async () => {
    const repository = createDocumentRepository(await engine.open())
    const documents = createTestDocuments({ repository, now: () => 0 })
    const ref = { database: '_system', collection: 'b', id: 'c' }
    await documents.create(ref, '{"id":"c"}')
    const any = { match: undefined, noneMatch: undefined }
    const ahead = {
      stored: documents.stored(ref),
      schema: Promise.resolve({ tag: null, validate: undefined }),
    }
    await ahead.stored
    const read = vi.spyOn(repository, 'read')
    const update = vi.spyOn(repository, 'update')
    const changes = Array.from({ length: 20 }, (_, n) => JSON.stringify({ n }))
    await Promise.all([
      ...changes.map((text) => documents.patch(ref, text, any)),
      // What was read ahead is outdated by then.
      ...changes.map((text) => documents.replace(ref, text, any, { ahead })),
    ])
    expect(read).toHaveBeenCalledTimes(40)
    expect(update).toHaveBeenCalledTimes(40)
  })

  it('concurrent changes each build on the previous one or are rejected', async () => {
    const documents = createTestDocuments({
      repository: createDocumentRepository(await engine.open()),
      now: () => 0,
    })
    const ref = { database: '_system', collection: 'b', id: 'c' }
    await documents.create(ref, '{"id":"c"}')
    const any = { match: undefined, noneMatch: undefined }
    const keys = Array.from({ length: 8 }, (_, n) => `k${n}`)
    await Promise.all(keys.map((key) => documents.patch(ref, `{"${key}":1}`, any)))
    const { tag, body } = await documents.read(ref, any)
    expect(Object.keys(JSON.parse(body)).sort()).toEqual(['id', ...keys].sort())

    const seen = { ...any, match: [tag] }
    const responses = await Promise.allSettled(
      keys.map((key) => documents.replace(ref, `{"${key}":2}`, seen)),
    )
    const made = responses.filter((each) => each.status === 'fulfilled').map(({ value }) => value)
    expect(made).toEqual([await documents.read(ref, any)])
    for (const each of responses.filter(({ status }) => status === 'rejected')) {
      expect(each).toMatchObject({ reason: { code: 'precondition-failed' } })
    }
  })
})
