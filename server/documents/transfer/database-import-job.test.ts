import { expect, it } from 'vitest'
import { createRecorder } from '../../audit/record.ts'
import { INDEXES } from '../../contract/document-index.ts'
import { WHOLE_DATABASE } from '../../contract/job.ts'
import { Failure } from '../../failure.ts'
import type { Job } from '../../jobs/job.ts'
import { createTestJobs } from '../../jobs/jobs.testing.ts'
import { LEASE } from '../../jobs/lease.ts'
import { StoreUnavailable } from '../../storage/availability/unavailable.ts'
import type { Store } from '../../storage/store.ts'
import { storeDatabases } from '../../storage/test-support/databases.testing.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { createDocumentRules } from '../document-rules.ts'
import { createImporter } from '../import/importer.ts'
import { readRecords } from '../import/read-records.ts'
import { createIndexRepository } from '../indexes/index-repository.ts'
import { createIndexes, type Indexes } from '../indexes/indexes.ts'
import { createRecordEnd } from '../record-end.ts'
import { createDocumentRepository } from '../repository/stored-documents.ts'
import { createSchemaChecker } from '../schemas/schema-checker.ts'
import { createSchemas, type Schemas } from '../schemas/schemas.ts'
import { createDatabaseImporter } from './database-importer.ts'
import { readDatabase, storedDatabase } from './read-database.ts'

/** Documents of each collection: several parts. */
const COUNT = 600

const actor = { name: 'ada', by: 'session', address: null } as const
const audit = { actor, action: 'database.import', target: 'x' } as const
const where = { database: 'x', collection: WHOLE_DATABASE }

function* exportLines() {
  yield '{"gatehouse":1,"database":"old"}'
  for (const collection of ['articles', 'books']) {
    const indexes = [{ name: 'by-n', fields: ['n'], unique: true }]
    yield JSON.stringify({ collection, schema: { type: 'object' }, indexes })
    for (let n = 0; n < COUNT; n++) yield `{"document":{"id":"d${n}","n":${n}}}`
  }
  yield JSON.stringify({ end: { collections: 2, documents: 2 * COUNT } })
}

async function* bytes() {
  yield Buffer.from([...exportLines()].join('\n'))
}

async function* manyIndexes() {
  const indexes = Array.from({ length: INDEXES }, (_, n) => ({ name: `i${n}`, fields: [`f${n}`] }))
  const lines = ['a', 'b'].map((collection) =>
    JSON.stringify({ collection, schema: null, indexes }),
  )
  yield Buffer.from(
    ['{"gatehouse":1,"database":"old"}', ...lines, '{"end":{"collections":2,"documents":0}}'].join(
      '\n',
    ),
  )
}

forEachEngine((engine) => {
  /** Returns jobs that behave like another process on the same store. */
  function openNode(
    store: Store,
    changeSchemas = (schemas: Schemas) => schemas,
    now = Date.now,
    changeIndexes = (indexes: Indexes) => indexes,
  ) {
    const repository = createDocumentRepository(store)
    const checker = createSchemaChecker()
    const schemas = createSchemas(store, checker)
    const importer = createImporter({ repository, now: () => 0, schemaOf: schemas.current })
    const record = createRecorder()
    const errors: unknown[] = []
    const onError = (error: unknown) => errors.push(error)
    const recordEnd = createRecordEnd({ store, record, onRecorded() {}, onError })
    const databaseImporter = createDatabaseImporter({
      store,
      record,
      repository,
      importer,
      schemas: changeSchemas(schemas),
      indexes: changeIndexes(createIndexes(createIndexRepository(store, Date.now), () => {})),
      recordEnd,
    })
    const jobs = createTestJobs(store, {
      now,
      pause: () => new Promise(setImmediate),
      rules: createDocumentRules(repository.scan, Date.now, schemas.current, {
        importPart: importer.part,
        databaseImporter,
        recordEnd,
      }),
      onError,
    })
    return {
      jobs,
      errors,
      run: (body: AsyncIterable<Uint8Array>, signal = new AbortController().signal) =>
        databaseImporter.run({
          database: 'x',
          onConflict: 'fail',
          audit,
          records: readRecords(body, 'ndjson'),
          signal,
        }),
      begin: () => {
        const parts = storedDatabase(readDatabase(readRecords(bytes(), 'ndjson')))
        return jobs.beginImport(where, { onConflict: 'fail', audit }, parts)
      },
      async [Symbol.asyncDispose]() {
        await jobs.stop()
        await checker.close()
      },
    }
  }
  const imports = (store: Store) =>
    store.db.selectFrom('audit').select('after').where('action', '=', 'database.import').execute()

  it('continues an import of a database on another node, without repetition', async () => {
    const store = await engine.open()
    await storeDatabases(store, 'x')
    let isSet = false
    await using first = openNode(store, (schemas) => ({
      ...schemas,
      async put(...input) {
        await schemas.put(...input)
        isSet = true
        // The progress of this part is not stored.
        throw new StoreUnavailable()
      },
    }))
    const { id } = await first.begin()
    await expect.poll(() => isSet).toBe(true)
    await first.jobs.stop()
    const halfway = await first.jobs.read('x', id)
    expect(halfway).toMatchObject({ state: 'running', done: COUNT, total: 2 * COUNT })

    const later = () => Date.now() + LEASE + 1
    await using second = openNode(store, undefined, later)
    second.jobs.wake()
    await expect.poll(async () => (await second.jobs.read('x', id)).state).toBe('done')
    expect(await second.jobs.read('x', id)).toMatchObject({
      done: 2 * COUNT,
      found: 2 * COUNT,
      result: { collections: 2, created: 2 * COUNT, failed: 0, errors: [] },
    })
    const indexes = await store.db.selectFrom('document_indexes').select('collection').execute()
    expect(indexes.map(({ collection }) => collection).sort()).toEqual(['articles', 'books'])
    expect(await imports(store)).toHaveLength(1)
    expect(second.errors).toEqual([])
  })

  it('records an import that is cancelled, and keeps what it has stored', async () => {
    const store = await engine.open()
    await storeDatabases(store, 'x')
    const canceller = { name: 'bob', by: 'token', address: null } as const
    let cancelled: Job | undefined
    await using node = openNode(store)
    await node.jobs.stop()
    const { id } = await node.begin()
    await using runner = openNode(store, (schemas) => ({
      ...schemas,
      async put(...input) {
        cancelled ??= await node.jobs.cancel('x', id, canceller)
        return schemas.put(...input)
      },
    }))
    runner.jobs.wake()
    const staged = () => store.db.selectFrom('job_documents').select('id').execute()
    await expect.poll(staged).toEqual([])
    await runner.jobs.stop()
    expect(cancelled).toMatchObject({ state: 'cancelled' })
    const counts = { created: COUNT, replaced: 0, skipped: 0, failed: 0 }
    expect(await node.jobs.read('x', id)).toMatchObject({
      state: 'cancelled',
      done: COUNT,
      found: COUNT,
      failure: null,
      result: { collections: 0, ...counts, errors: [] },
    })
    expect(await node.jobs.cancel('x', id, canceller)).toEqual(await node.jobs.read('x', id))
    const rows = await store.db
      .selectFrom('audit')
      .select(['actor', 'after'])
      .where('action', '=', 'database.import')
      .execute()
    expect(rows.map(({ actor, after }) => [actor, JSON.parse(String(after))])).toEqual([
      ['ada', { collections: 0, ...counts, complete: false, cancelledBy: 'bob' }],
    ])
    const stored = await store.db.selectFrom('documents').select('id').execute()
    expect(stored).toHaveLength(COUNT)
    expect(runner.errors).toEqual([])
  })

  it('names and records all stored documents of an import that is cut off', async () => {
    const store = await engine.open()
    await storeDatabases(store, 'x')
    await using node = openNode(store)
    async function* interrupted() {
      const lines = [...exportLines()]
      yield Buffer.from(`${lines.slice(0, -10).join('\n')}\n`)
      throw new Failure('timeout', 'The body arrived too slowly.')
    }
    const error = await node.run(interrupted()).catch((failure: Failure) => failure)
    const { length } = await store.db.selectFrom('documents').select('id').execute()
    expect(length).toBeGreaterThanOrEqual(COUNT)
    expect(error).toMatchObject({
      code: 'timeout',
      message: expect.stringContaining(`${length.toLocaleString('en')} documents are stored.`),
    })
    const rows = await imports(store)
    expect(rows.map(({ after }) => JSON.parse(String(after)))).toMatchObject([
      { created: length, complete: false },
    ])
  })

  it('says why an import was cut off, even if its end cannot be recorded', async () => {
    const store = await engine.open()
    await storeDatabases(store, 'x')
    let isAvailable = true
    const change: Store['change'] = (run) =>
      isAvailable ? store.change(run) : Promise.reject(new StoreUnavailable())
    await using node = openNode({ ...store, change })
    async function* interrupted() {
      yield Buffer.from('{"gatehouse":1,"database":"old"}\n')
      isAvailable = false
      throw new Failure('timeout', 'The body arrived too slowly.')
    }
    await expect(node.run(interrupted())).rejects.toMatchObject({ code: 'timeout' })
    expect(node.errors).toEqual([expect.any(StoreUnavailable)])
  })

  it('ends the definition of a collection when the job is cancelled', async () => {
    const store = await engine.open()
    await storeDatabases(store, 'x')
    let puts = 0
    const { promise: begun, resolve: begin } = Promise.withResolvers<string>()
    await using node = openNode(store, undefined, undefined, (indexes) => ({
      ...indexes,
      async put(...input) {
        puts++
        const put = await indexes.put(...input)
        await node.jobs.cancel('x', await begun, audit.actor)
        return put
      },
    }))
    const records = readRecords(manyIndexes(), 'ndjson')
    const parts = storedDatabase(readDatabase(records))
    begin((await node.jobs.beginImport(where, { onConflict: 'fail', audit }, parts)).id)
    await expect.poll(async () => (await node.jobs.read('x', await begun)).state).toBe('cancelled')
    await node.jobs.stop()
    expect(puts).toBe(1)
    expect(node.errors).toEqual([])
  })

  it('ends the definition of a collection when the client disconnects', async () => {
    const store = await engine.open()
    await storeDatabases(store, 'x')
    let puts = 0
    const client = new AbortController()
    await using node = openNode(store, undefined, undefined, (indexes) => ({
      ...indexes,
      async put(...input) {
        puts++
        const put = await indexes.put(...input)
        client.abort()
        return put
      },
    }))
    await expect(node.run(manyIndexes(), client.signal)).rejects.toMatchObject({ code: 'busy' })
    expect(puts).toBe(1)
    const [row] = await imports(store)
    expect(JSON.parse(String(row?.after))).toMatchObject({ collections: 1, complete: false })
  })

  it('records an import that fails', async () => {
    const store = await engine.open()
    await storeDatabases(store, 'x')
    await using node = openNode(store, (schemas) => ({
      ...schemas,
      put: () => Promise.reject(new Failure('busy', 'Schemas are rejected for a while.')),
    }))
    const { id } = await node.begin()
    await expect.poll(async () => (await node.jobs.read('x', id)).state).toBe('failed')
    const rows = await imports(store)
    expect(rows.map(({ after }) => JSON.parse(String(after)))).toMatchObject([
      { created: COUNT, complete: false },
    ])
  })
})
