import type { Kysely } from 'kysely'
import { expect, it } from 'vitest'
import { verifyChain } from '../../audit/verify.ts'
import { openIndexesOf } from '../../documents/indexes/build/build-indexes.testing.ts'
import { expectEntriesOfDocuments } from '../../documents/indexes/write/stored-entries.testing.ts'
import { readEndpoints } from '../../endpoints/registry/repository.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { openOlder } from '../../storage/test-support/older-store.testing.ts'
import { createTestJobs } from '../jobs.testing.ts'

// Stores of versions that changed all documents of a job or none, and made bulk changes of
// endpoints in the background.

const database = '_system'
const nothing = { replaced: 0, skipped: 0, failed: 0, errors: [] }

const job = (kind: string, state: string, more: object = {}) => ({
  ...{ id: kind + state, database, collection: kind + state, kind, state, cursor: null },
  ...{ request: '{"filter":[],"patch":"{\\"n\\":1}","schema":null}', done: 3, total: 3, found: 3 },
  ...{ clean: 0, claimed_by: '', claimed_until: 9, created_at: 1, updated_at: Date.now(), ...more },
})
const staged = (job: string, id: string, more: object = {}) => {
  return { job, id, seen: 'old', tag: 'new', body: JSON.stringify({ id, n: 1 }), ...more }
}
const document = (collection: string, id: string, n = 0) => {
  return { database, collection, id, tag: 'old', body: JSON.stringify({ id, n }) }
}

/** Returns a function that stores rows in tables of an older version. */
const inserter = (db: unknown) => (table: string, rows: object[]) =>
  (db as Kysely<Record<string, object>>).insertInto(table).values(rows).execute()

forEachEngine({ empty: true }, (engine) => {
  /** Opens the store, and runs its jobs to their end. */
  async function upgrade() {
    const store = await engine.open()
    const { db } = store
    const parts = await db.selectFrom('job_documents').select('job').execute()
    const jobs = createTestJobs(store, { now: Date.now })
    jobs.wake()
    const states = () =>
      db.selectFrom('jobs').select(['id', 'kind', 'state', 'result']).orderBy('id').execute()
    await expect
      .poll(async () => (await states()).map(({ state }) => state))
      .not.toContain('running')
    await jobs.stop()
    const documents = await db.selectFrom('documents').selectAll().execute()
    const ended = (await states()).filter(({ state }) => state !== 'discarded')
    return {
      store,
      parts,
      jobs: ended.map(({ result, ...job }) => ({ ...job, result: JSON.parse(result ?? 'null') })),
      documents: documents
        .map((each) => `${each.collection} ${each.id} ${JSON.parse(each.body).n}`)
        .sort(),
    }
  }

  it('finishes accepted jobs, and reports what bulk changes have left', async () => {
    await using older = await openOlder(engine, '0018-job-callers')
    const insert = inserter(older.db)
    const ids = Array.from({ length: 501 }, (_, at) => `${1_000 + at}`)
    const jobs = [job('create', 'running'), job('create', 'done'), job('patch', 'running')]
    const requests = [job('delete', 'attached'), job('create', 'preparing')]
    await insert('jobs', [...jobs, ...requests, job('delete', 'cancelling')])
    const array = ids.map((id) => staged('createrunning', id, { seen: '' }))
    await insert('job_documents', [
      ...array,
      staged('patchrunning', 'a'),
      staged('createpreparing', 'a'),
    ])
    await insert('documents', [document('patchrunning', 'a'), document('deleteattached', 'a')])
    await insert('endpoints', [{ address: 'tcp://a:1', databases: '["b"]', revision: 7 }])
    const bulk = {
      ...{ actor: '', person: '', via: '', keep_on_failure: 0, changes: '[]', removals: 0 },
      ...{ claimed_by: '', claimed_until: 0 },
    }
    await insert(
      'endpoint_changes',
      [
        { id: 'ended', state: 'done', total: 1, made: 1, unchanged: 0, failed: 0, created_at: 1 },
        { id: 'one', state: 'running', total: 9, made: 1, unchanged: 2, failed: 3, created_at: 2 },
        { id: 'two', state: 'running', total: 4, made: 0, unchanged: 0, failed: 0, created_at: 3 },
      ].map((row) => ({ ...bulk, ...row })),
    )
    await insert('endpoint_change_outcomes', [{ change: 'one', at: 0, state: 'made' }])

    const upgraded = await upgrade()
    expect(upgraded.parts.filter(({ job }) => job === 'createrunning')).toHaveLength(3)
    expect(upgraded.jobs).toEqual([
      { id: 'createdone', kind: 'import', state: 'done', result: { created: 3, ...nothing } },
      { id: 'createrunning', kind: 'import', state: 'done', result: { created: 501, ...nothing } },
      { id: 'deletecancelling', kind: 'delete', state: 'cancelled', result: null },
      { id: 'patchrunning', kind: 'patch', state: 'done', result: { failed: 0, errors: [] } },
    ])
    expect(upgraded.documents).toEqual([
      ...ids.map((id) => `createrunning ${id} 1`),
      'deleteattached a 0',
      'patchrunning a 1',
    ])
    const { store } = upgraded
    expect(await readEndpoints(store)).toMatchObject([{ endpoint: 'tcp://a:1', revision: 7 }])
    const columns = ['actor', 'action', 'target', 'after', 'change'] as const
    const cancelled = { actor: 'upgrade', action: 'endpoint.change-cancel' }
    expect(await store.db.selectFrom('audit').select(columns).orderBy('seq').execute()).toEqual([
      { ...cancelled, target: 'one', after: '{"made":1,"changes":9,"left":3}', change: 'one' },
      { ...cancelled, target: 'two', after: '{"made":0,"changes":4,"left":4}', change: 'two' },
    ])
    expect(await verifyChain(store)).toMatchObject({ intact: true, seq: 2 })
  })

  if (engine.name !== 'sqlite') return

  it.each([
    ['create', ['b 5', 'c 1']],
    ['patch', ['b 5', 'c 1']],
    ['delete', ['b 5']],
  ])('writes the documents of a committed change, and its entries: %s', async (kind, expected) => {
    await using older = await openOlder(engine, '0018-job-callers')
    const insert = inserter(older.db)
    const name = `${kind}applying`
    const fields = { fields: '["n","id"]', is_unique: 1, state: 'ready', done: 0, created_at: 1 }
    await insert('document_indexes', [{ id: 1, database, collection: name, name: 'i', ...fields }])
    // An entry that reserves values.
    const [key, sole] = [Buffer.from('k'), Buffer.from('s')]
    await insert('index_entries', [{ index_id: 1, key, id: 'c', sole }])
    await insert('jobs', [job(kind, 'applying', { cursor: 'a' })])
    const taken = kind === 'delete' ? { tag: '', body: '' } : {}
    // A request has changed `b` after the job was committed.
    const changed = staged(name, 'b', { ...taken, seen: '*' })
    await insert('job_documents', [staged(name, 'a', taken), changed, staged(name, 'c', taken)])
    const stored = [document(name, 'b', 5), document(name, 'c')]
    await insert('documents', kind === 'create' ? stored.slice(0, 1) : stored)

    const { store, jobs, documents } = await upgrade()
    expect(jobs).toMatchObject([{ id: name, state: 'done' }])
    expect(documents).toEqual(expected.map((each) => `${name} ${each}`))
    await openIndexesOf(store).build()
    await expectEntriesOfDocuments(store)
  })
})
