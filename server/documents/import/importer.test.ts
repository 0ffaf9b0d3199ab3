import { beforeEach, describe, expect, it, test, vi } from 'vitest'
import type { OnConflict } from '../../contract/import.ts'
import type { ImportRecord } from '../../contract/records/import-record.ts'
import { Failure } from '../../failure.ts'
import type { Store } from '../../storage/store.ts'
import { storeDatabases } from '../../storage/test-support/databases.testing.ts'
import { forEngine } from '../../storage/test-support/each-engine.testing.ts'
import { WAIT } from '../../test-support/wait.testing.ts'
import { openIndexesOf } from '../indexes/build/build-indexes.testing.ts'
import { createDocumentRepository } from '../repository/stored-documents.ts'
import type { CurrentSchema, CurrentSchemaOf, Validate } from '../schemas/schemas.ts'
import { createImporter, type Importer } from './importer.ts'
import { readRecords } from './read-records.ts'
import { type PartImport, type StoredPart, storedParts } from './stored-part.ts'

const where = { database: 'db', collection: 'articles' }
const NOTHING = { created: 0, replaced: 0, skipped: 0, failed: 0, errors: [] }
const noSchema = async () => ({ tag: null })
const forever = () => new AbortController().signal

async function* linesOf(documents: readonly unknown[]): AsyncGenerator<Buffer> {
  for (const each of documents) {
    yield Buffer.from(`${typeof each === 'string' ? each : JSON.stringify(each)}\n`)
  }
}

forEngine('sqlite', (engine) => {
  let store: Store
  let importer: Importer
  let schemaOf: CurrentSchemaOf
  let indexes: ReturnType<typeof openIndexesOf>

  beforeEach(async () => {
    store = await engine.open()
    await storeDatabases(store, 'db')
    schemaOf = noSchema
    const repository = createDocumentRepository(store)
    importer = createImporter({ repository, now: () => 0, schemaOf: (...all) => schemaOf(...all) })
    indexes = openIndexesOf(store)
  })

  const run = (
    documents: readonly unknown[],
    onConflict: OnConflict = 'fail',
    signal = forever(),
  ) => importer.run(where, readRecords(linesOf(documents), 'ndjson'), onConflict, signal)
  const setSchema = (tag: string) =>
    store.db
      .insertInto('schemas')
      .values({ ...where, tag, body: 'true' })
      .execute()
  const stored = async () => {
    const rows = await store.db.selectFrom('documents').selectAll().orderBy('id').execute()
    return rows.map(({ body }) => JSON.parse(body))
  }
  /** Returns `<index id> <document>` of every index entry. */
  const entries = async () => {
    const rows = await store.db.selectFrom('index_entries').select(['index_id', 'id']).execute()
    return rows.map((row) => `${row.index_id} ${row.id}`).sort()
  }

  describe('an id that exists', () => {
    const stale = [
      { id: 'a', n: 0 },
      { id: 'c', n: 0 },
    ]
    const file = [{ id: 'a', n: 1 }, { id: 'b', n: 1 }, { id: 'b', n: 2 }, { id: 'd' }]
    const exists = (line: number, id: string) => ({
      line,
      pointer: '/id',
      message: `A document with the id "${id}" already exists.`,
    })

    test.each([
      ['fail', { created: 2, failed: 2, errors: [exists(1, 'a'), exists(3, 'b')] }, [0, 1]],
      ['skip', { created: 2, skipped: 2 }, [0, 1]],
      ['replace', { created: 2, replaced: 2 }, [1, 2]],
    ] as const)('with on-conflict=%s', async (onConflict, counts, [a, b]) => {
      for (const isIndexed of [false, true]) {
        await store.db.deleteFrom('documents').execute()
        if (isIndexed) await indexes.put(where, 'by-n', ['n'])
        await run(stale)
        expect(await run(file, onConflict)).toEqual({ ...NOTHING, ...counts })
        expect(await stored()).toEqual([
          { id: 'a', n: a },
          { id: 'b', n: b },
          { id: 'c', n: 0 },
          { id: 'd' },
        ])
      }
      expect(await entries()).toHaveLength(4)
    })
  })

  describe('a unique index', () => {
    const conflict = (line: number, id: string) => ({
      line,
      pointer: '/n',
      message: `The index sole is unique, and the document "${id}" has the same values.`,
    })

    it('rejects documents one by one, in their order', async () => {
      await indexes.put(where, 'sole', ['n'], true)
      await indexes.put(where, 'other', ['m'])
      await run([
        { id: 'a', n: 1 },
        { id: 'b', n: 2 },
      ])
      const file = [
        { id: 'c', n: 2 },
        { id: 'd', n: 3 },
        { id: 'e', n: 3 },
        { id: 'f' },
        { id: 'b', n: 9 },
      ]
      expect(await run(file, 'skip')).toEqual({
        ...NOTHING,
        created: 2,
        skipped: 1,
        failed: 2,
        errors: [conflict(1, 'b'), conflict(3, 'd')],
      })
      // A replaced document frees its value for later ones; a rejected one keeps its stored state.
      const moved = [
        { id: 'a', n: 2 },
        { id: 'b', n: 7 },
        { id: 'a', n: 2 },
        { id: 'g', n: 1 },
      ]
      expect(await run(moved, 'replace')).toEqual({
        ...NOTHING,
        created: 1,
        replaced: 2,
        failed: 1,
        errors: [conflict(1, 'b')],
      })
      const numbers = { a: 2, b: 7, d: 3, f: undefined, g: 1 }
      expect(await stored()).toEqual(Object.entries(numbers).map(([id, n]) => ({ id, n })))
      expect(await entries()).toHaveLength(10)
    })
  })

  describe('invalid documents', () => {
    it('are listed with line and pointer, the first 100 of them, and the others are stored', async () => {
      const file = ['{"id":"a"', '[]', { id: '' }, '{"a":{"b":-0}}', '', { id: 'ok' }, '{"n":']
      expect(await run(file)).toEqual({
        ...NOTHING,
        created: 1,
        failed: 5,
        errors: [
          { line: 1, pointer: '', message: 'This is not JSON.' },
          { line: 2, pointer: '', message: 'A document must be a JSON object.' },
          { line: 3, pointer: '/id', message: 'An id has 1 to 256 characters.' },
          { line: 4, pointer: '/a/b', message: 'The number -0 cannot be stored exactly.' },
          { line: 7, pointer: '', message: 'This is not JSON.' },
        ],
      })
      const many = await run(Array.from({ length: 2_100 }, (_, n) => (n % 2 === 0 ? '{' : {})))
      expect(many).toMatchObject({ created: 1_050, failed: 1_050 })
      expect(many.errors.map(({ line }) => line)).toEqual(
        Array.from({ length: 100 }, (_, n) => 2 * n + 1),
      )
    })

    it('are those that their schema rejects, together or one by one', async () => {
      const violation = (at: number) => ({ pointer: `/${at}/n/0`, message: 'must be a number' })
      const validate: Validate = async (documents) => {
        if (documents.some(({ body }) => body.includes('slow'))) {
          throw new Failure('invalid', 'Checking takes too long.', { field: '' })
        }
        const wrong = documents.flatMap(({ body }, at) =>
          body.includes('x') ? [violation(at)] : [],
        )
        if (wrong.length > 0) throw new Failure('invalid', 'x', { violations: wrong.slice(0, 2) })
      }
      await setSchema('slow')
      schemaOf = async () => ({ tag: 'slow', validate })
      const list = ['x', 'ok', 'slow', 'x', 'x', 'ok'].map((n, at) => ({ id: `${at}`, n: [n] }))
      const wrong = (line: number) => ({ line, pointer: '/n/0', message: 'must be a number' })
      expect(await run(list)).toEqual({
        ...NOTHING,
        created: 2,
        failed: 4,
        errors: [
          wrong(1),
          { line: 3, pointer: '', message: 'Checking takes too long.' },
          wrong(4),
          wrong(5),
        ],
      })
      expect((await stored()).map(({ id }) => id)).toEqual(['1', '5'])
    })
  })

  describe('a schema that is set after documents were validated', () => {
    const validate: Validate = async (documents) => {
      const violations = documents.flatMap(({ body }, at) =>
        body.includes('x') ? [{ pointer: `/${at}/n`, message: 'must be a number' }] : [],
      )
      if (violations.length > 0) throw new Failure('invalid', 'x', { violations })
    }
    const file = ['x', 1, 'x', 2].map((n, at) => ({ id: `${at}`, n }))
    const wrong = (line: number) => ({ line, pointer: '/n', message: 'must be a number' })
    const expected = { ...NOTHING, created: 2, failed: 2, errors: [wrong(1), wrong(3)] }

    beforeEach(() => {
      const states: CurrentSchema[] = [{ tag: null }, { tag: 'numbers', validate }]
      schemaOf = async () => {
        const [current] = states.splice(0, 1)
        if (current?.tag === null) await setSchema('numbers')
        return current ?? expect.fail('validated a third time')
      }
    })

    it('applies to an import', async () => {
      expect(await run(file)).toEqual(expected)
      expect((await stored()).map(({ id }) => id)).toEqual(['1', '3'])
    })

    it('applies to a part, even if it rejects all of its documents', async () => {
      const importPart = async (documents: readonly unknown[]) => {
        const parts = storedParts(readRecords(linesOf(documents), 'ndjson'))
        const { text } = (await parts.next()).value as StoredPart
        const commit = vi.fn<PartImport['commit']>(async () => {})
        const state = { line: 0, result: null, signal: forever(), commit }
        await importer.part(where, text, { onConflict: 'fail', ...state })
        return commit.mock.calls.map(([, progress]) => progress)
      }
      const rejected = { ...NOTHING, failed: 1, errors: [wrong(1)] }
      expect(await importPart([file[0]])).toEqual([{ line: undefined, result: rejected, done: 1 }])
      schemaOf = async () => ({ tag: 'numbers', validate })
      expect(await importPart(file)).toEqual([{ line: undefined, result: expected, done: 4 }])
    })
  })

  it('fails if the database is dropped, and says how many documents are stored', async () => {
    async function* records(): AsyncGenerator<readonly ImportRecord[]> {
      for (let at = 0; at < 1_250; at += 250) {
        yield Array.from({ length: 250 }, (_, n) => ({ line: at + n, text: '{}' }))
        if (at !== 1_000) continue
        await vi.waitUntil(async () => (await stored()).length === 1_000, WAIT)
        await store.db.deleteFrom('databases').execute()
      }
    }
    await expect(importer.run(where, records(), 'fail', forever())).rejects.toMatchObject({
      code: 'database-not-found',
      message: 'database not found. The import has ended; 1,000 documents are stored.',
      details: { stored: 1_000 },
    })
  })

  it('says that nothing was imported if the header is invalid', async () => {
    const records = readRecords(linesOf(['id,id']), 'csv')
    await expect(importer.run(where, records, 'fail', forever())).rejects.toMatchObject({
      message: expect.stringMatching(/^The header is invalid\. .*\. Nothing was imported\.$/),
      details: { stored: 0 },
    })
  })

  it('ends after the current transaction when its signal is aborted', async () => {
    const client = new AbortController()
    const body = async function* () {
      for (let n = 0; n < 100_000; n++) {
        if (n === 5_000) client.abort('left')
        yield Buffer.from('{}\n')
      }
    }
    const closed = vi.fn()
    const records = (async function* () {
      try {
        yield* readRecords(body(), 'ndjson')
      } finally {
        closed()
      }
    })()
    await expect(importer.run(where, records, 'fail', client.signal)).rejects.toThrow(
      'The client has disconnected.',
    )
    expect(closed).toHaveBeenCalled()
    const count = (await stored()).length
    expect(count).toBeGreaterThanOrEqual(4_000)
    expect(count).toBeLessThanOrEqual(6_000)
  })

  it('continues a part after its last transaction, and counts each record once', async () => {
    await indexes.put(where, 'sole', ['n'], true)
    const lines = ['{"id":"a","n":1}', '{', '{"id":"b","n":1}', '{"id":"c"}', '{"id":"c"}', '[]']
    const parts = storedParts(readRecords(linesOf(lines), 'ndjson'))
    const { text } = (await parts.next()).value as StoredPart
    const repository = createDocumentRepository(store)
    const one = createImporter({
      now: () => 0,
      schemaOf: noSchema,
      // As if the time of a transaction were over after each document.
      repository: {
        ...repository,
        write: (to, [first], ...rest) => repository.write(to, first ? [first] : [], ...rest),
      },
    })
    let state: Pick<PartImport, 'line' | 'result'> = { line: 0, result: null }
    let done = 0
    let isInterrupted = true
    const interrupt = new Error('killed')
    for (let round = 0; isInterrupted; round++) {
      expect(round).toBeLessThan(9)
      isInterrupted = false
      let commits = 0
      await one
        .part(where, text, {
          onConflict: 'fail',
          ...state,
          signal: new AbortController().signal,
          async commit(_, { line, result, done: more }) {
            // The second transaction of each round is rolled back.
            if (++commits === 2) throw interrupt
            state = { line: line ?? Number.POSITIVE_INFINITY, result }
            done += more
          },
        })
        .catch((error: unknown) => {
          if (error !== interrupt) throw error
          isInterrupted = true
        })
    }
    expect(state.result).toMatchObject({ created: 2, failed: 4 })
    expect(state.result?.errors.map(({ line }) => line)).toEqual([2, 3, 5, 6])
    expect(done).toBe(6)
    expect((await stored()).map(({ id }) => id)).toEqual(['a', 'c'])
  })

  it('counts each record of a part once, although the schema changes after an interruption', async () => {
    const repository = createDocumentRepository(store)
    const one = createImporter({
      now: () => 0,
      schemaOf: (...all) => schemaOf(...all),
      repository: {
        ...repository,
        write: (to, [first], ...rest) => repository.write(to, first ? [first] : [], ...rest),
      },
    })
    const lines = ['x', 'y', 'x', 'y'].map((n, at) => ({ id: `${at}`, n }))
    const parts = storedParts(readRecords(linesOf(lines), 'ndjson'))
    const { text } = (await parts.next()).value as StoredPart
    const rejecting =
      (value: string): Validate =>
      async (documents) => {
        const violations = documents.flatMap(({ body }, at) =>
          body.includes(value) ? [{ pointer: `/${at}/n`, message: `must not be ${value}` }] : [],
        )
        if (violations.length > 0) throw new Failure('invalid', 'x', { violations })
      }
    let state: Pick<PartImport, 'line' | 'result'> = { line: 0, result: null }
    const done: number[] = []
    const importPart = (commits: number) =>
      one.part(where, text, {
        onConflict: 'fail',
        ...state,
        signal: forever(),
        async commit(_, progress) {
          if (commits-- === 0) throw new Error('killed')
          state = { line: progress.line ?? Number.POSITIVE_INFINITY, result: progress.result }
          done.push(progress.done)
        },
      })
    await setSchema('first')
    schemaOf = async () => ({ tag: 'first', validate: rejecting('x') })
    await expect(importPart(1)).rejects.toThrow('killed')
    await store.db.updateTable('schemas').set({ tag: 'second' }).execute()
    schemaOf = async () => ({ tag: 'second', validate: rejecting('y') })
    await importPart(9)
    const wrong = (line: number, value: string) => {
      return { line, pointer: '/n', message: `must not be ${value}` }
    }
    expect(state.result).toEqual({
      ...NOTHING,
      created: 2,
      failed: 2,
      errors: [wrong(1, 'x'), wrong(4, 'y')],
    })
    expect(done).toEqual([2, 2])
    expect((await stored()).map(({ id }) => id)).toEqual(['1', '2'])
  })

  it('ends if the schema keeps changing', async () => {
    let times = 0
    await setSchema('0')
    schemaOf = async () => {
      const tag = String(times++)
      await store.db
        .updateTable('schemas')
        .set({ tag: `${tag}, replaced` })
        .execute()
      // The test fails if the import does not end.
      return { tag: times > 20 ? `${tag}, replaced` : tag }
    }
    await expect(run([{ id: 'a' }])).rejects.toMatchObject({
      code: 'busy',
      message: 'The schema of the collection keeps changing. Nothing was imported.',
    })
    expect(await stored()).toEqual([])
  })

  it('shares transactions with other imports, and writes at most 1,000 documents in each', async () => {
    const repository = createDocumentRepository(store)
    const sizes: number[] = []
    let open = 0
    const counting = createImporter({
      now: () => 0,
      schemaOf: noSchema,
      repository: {
        ...repository,
        async write(...all) {
          expect(++open).toBe(1)
          const written = await repository.write(...all)
          sizes.push(written.length)
          open--
          return written
        },
      },
    })
    const file = Array.from({ length: 2_500 }, () => ({ text: 'x'.repeat(100) }))
    const imports = [1, 2].map(() =>
      counting.run(where, readRecords(linesOf(file), 'ndjson'), 'fail', forever()),
    )
    for (const result of await Promise.all(imports)) expect(result.created).toBe(2_500)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1_000)
    expect(sizes.reduce((sum, size) => sum + size)).toBe(5_000)
  })
})

it('an import that waits for another one ends when its client disconnects', async () => {
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>()
  const write = vi.fn(async () => {
    await finished
    return ['created' as const]
  })
  const repository = { write } as unknown as Parameters<typeof createImporter>[0]['repository']
  const schemaOf = vi.fn(noSchema)
  const { run } = createImporter({ repository, now: () => 0, schemaOf })
  const begin = (signal: AbortSignal) =>
    run(where, readRecords(linesOf([{ id: 'a' }]), 'ndjson'), 'fail', signal)
  const first = begin(forever())
  await expect.poll(() => write).toHaveBeenCalledOnce()
  const client = new AbortController()
  const second = begin(client.signal)
  await expect.poll(() => schemaOf).toHaveBeenCalledTimes(2)
  // It was validated, so by the next turn it waits to be written.
  setImmediate(() => client.abort('left'))
  await expect(second).rejects.toThrow('The client has disconnected.')
  finish()
  await first
  expect(write).toHaveBeenCalledOnce()
})

it('reads the next batch of an import while one is written, and counts both in order', async () => {
  let read = 0
  async function* records(): AsyncGenerator<ImportRecord[]> {
    for (; read < 3_000; read++) yield [{ line: read + 1, text: read % 1_000 === 1 ? '[' : '{}' }]
  }
  const written: number[] = []
  const readDuring: number[] = []
  const importer = createImporter({
    repository: {
      async write(_, documents) {
        // The second batch has been read by the end of the first one, and no more.
        if (written.length === 0) await vi.waitUntil(() => read >= 1_999, WAIT)
        for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
        readDuring.push(read)
        written.push(documents.length)
        return documents.map(() => 'created' as const)
      },
    },
    now: () => 0,
    schemaOf: noSchema,
  })
  const result = await importer.run(where, records(), 'fail', forever())
  expect(result).toMatchObject({ created: 2_997, failed: 3 })
  expect(result.errors.map(({ line }) => line)).toEqual([2, 1_002, 2_002])
  expect(written.reduce((sum, count) => sum + count)).toBe(2_997)
  expect(readDuring[0]).toBeLessThan(2_100)
})
