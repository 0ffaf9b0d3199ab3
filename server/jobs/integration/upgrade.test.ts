import { beforeEach, expect, it } from 'vitest'
import { openIndexesOf } from '../../documents/indexes/build/build-indexes.testing.ts'
import { expectEntriesOfDocuments } from '../../documents/indexes/write/stored-entries.testing.ts'
import { visibleJobs } from '../../storage/migrations/0019-visible-jobs.ts'
import type { Store } from '../../storage/store.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { createTestJobs } from '../jobs.testing.ts'

// Jobs of versions that changed all documents of a job or none.

const database = '_system'
const row = { database, done: 3, total: 3, found: 3, claimed_by: '', claimed_until: 9 }

forEachEngine((engine) => {
  let store: Store
  let indexes: ReturnType<typeof openIndexesOf>

  beforeEach(async () => {
    store = await engine.open()
    indexes = openIndexesOf(store)
  })

  const storeJob = (id: string, kind: string, state: string, more: object = {}) =>
    store.db
      .insertInto('jobs')
      .values({
        ...row,
        ...{ id, kind, state, collection: id, request: '{"filter":[],"schema":null}' },
        ...{ cursor: null, failure: null, result: null, clean: 0, created_by: null },
        ...{ created_at: 1, updated_at: Date.now(), ...more },
      } as never)
      .execute()
  const stage = (job: string, id: string, more: object = {}) =>
    store.db
      .insertInto('job_documents')
      .values({ job, id, seen: 'old', tag: 'new', body: JSON.stringify({ id, n: 1 }), ...more })
      .execute()
  const storeDocument = (collection: string, id: string, n = 0) =>
    store.db
      .insertInto('documents')
      .values({ database, collection, id, tag: 'old', body: JSON.stringify({ id, n }) })
      .execute()
  const bodies = async (collection: string) => {
    const rows = await store.db
      .selectFrom('documents')
      .select(['id', 'body'])
      .where('collection', '=', collection)
      .orderBy('id')
      .execute()
    return rows.map(({ id, body }) => `${id} ${JSON.parse(body).n}`)
  }
  /** Upgrades the store, and runs its jobs to their end. */
  async function upgrade() {
    await visibleJobs(engine.name).up(store.db as never)
    const jobs = createTestJobs(store, { now: Date.now })
    jobs.wake()
    const states = () =>
      store.db
        .selectFrom('jobs')
        .select(['id', 'kind', 'state'])
        .where('state', '!=', 'discarded')
        .orderBy('id')
        .execute()
    await expect
      .poll(async () => (await states()).map(({ state }) => state))
      .not.toContain('running')
    await jobs.stop()
    await indexes.build()
    await expectEntriesOfDocuments(store)
    return states()
  }

  it('finishes the jobs that were accepted', async () => {
    await storeJob('array', 'create', 'running')
    for (const id of ['a', 'b']) await stage('array', id, { seen: '' })
    await storeDocument('patched', 'a')
    await storeJob('patched', 'patch', 'running', {
      request: '{"filter":[],"patch":"{\\"n\\":1}","schema":null}',
      cursor: 'a',
    })
    await stage('patched', 'a')
    await storeJob('waiting', 'delete', 'attached')
    await storeJob('arriving', 'create', 'preparing')
    await stage('arriving', 'a', { seen: '' })
    const states = await upgrade()
    expect(states).toEqual([
      { id: 'array', kind: 'import', state: 'done' },
      { id: 'patched', kind: 'patch', state: 'done' },
    ])
    expect([await bodies('array'), await bodies('patched'), await bodies('arriving')]).toEqual([
      ['a 1', 'b 1'],
      ['a 1'],
      [],
    ])
  })

  if (engine.name !== 'sqlite') return

  it.each([
    ['create', ['b 5', 'c 1']],
    ['patch', ['b 5', 'c 1']],
    ['delete', ['b 5']],
  ])('writes the documents of a committed change, and its entries: %s', async (kind, expected) => {
    await indexes.put({ database, collection: kind }, 'by-n', ['n', 'id'], true)
    await indexes.build()
    await storeJob(kind, kind, 'applying', { cursor: 'a' })
    const taken = kind === 'delete' ? { tag: '', body: '' } : {}
    for (const id of ['a', 'b', 'c']) await stage(kind, id, taken)
    // A request has changed `b` after the job was committed.
    await store.db.updateTable('job_documents').set({ seen: '*' }).where('id', '=', 'b').execute()
    await storeDocument(kind, 'b', 5)
    if (kind !== 'create') await storeDocument(kind, 'c')
    await storeJob('other', 'patch', 'cancelling')
    expect((await upgrade()).map(({ state }) => state).sort()).toEqual(['cancelled', 'done'])
    expect(await bodies(kind)).toEqual(expected)
  })
})
