import { sql, type Transaction } from 'kysely'
import { expect, it } from 'vitest'
import { createTestRules } from '../documents/document-rules.testing.ts'
import { PURGE_BATCH } from '../documents/repository/document-counts.ts'
import { createDocumentRepository } from '../documents/repository/repository.ts'
import type { Queries } from '../storage/changes/transactions.ts'
import type { Store } from '../storage/store.ts'
import type { Tables } from '../storage/tables.ts'
import { forEachEngine, forEngine } from '../storage/test-support/each-engine.testing.ts'
import { MERGE_TIME, prepareApply } from './apply.ts'
import type { Job } from './job.ts'
import { createJobRepository, type JobRepository } from './repository/repository.ts'
import { scanNext } from './scan.ts'

const COUNT = 2_000
const where = { database: '_system', collection: 'articles' }
const now = () => 1_700_000_000_000
const rules = createTestRules(now)
const pause = async () => {}

/** Returns the number of rows and index entries that the statements of a transaction have read. */
async function rowsRead(trx: Transaction<Tables>): Promise<number> {
  const { rows } = await sql<{ read: number }>`
    select sum(pg_stat_get_xact_tuples_returned(oid))::bigint as read
    from pg_class where relkind in ('r', 'i') and relnamespace = 'public'::regnamespace
  `.execute(trx)
  return rows[0]?.read ?? 0
}

// A table that PostgreSQL has never analyzed has no statistics. Its estimates are then far too low,
// and a plan for few rows takes quadratic time for many.
forEngine('postgres', (engine) => {
  /**
   * Opens a store without statistics. It holds documents in two collections; every second one is
   * `even`.
   */
  async function openWithDocuments(): Promise<Store> {
    const store = await engine.open()
    for (const table of ['documents', 'job_documents', 'jobs']) {
      await sql`alter table ${sql.table(table)} set (autovacuum_enabled = false)`.execute(store.db)
    }
    const repository = createDocumentRepository(store)
    const documents = Array.from({ length: COUNT }, (_, n) => {
      const id = `d${10_000 + n}`
      return { id, body: JSON.stringify({ id, even: n % 2 === 0, text: 'x'.repeat(100) }) }
    })
    await repository.insert(where, documents)
    await repository.insert({ ...where, collection: 'others' }, documents)
    return store
  }

  /** Runs a job up to its last change. */
  async function prepared(store: Store, repository: JobRepository, job: Job): Promise<Job> {
    for (;;) {
      const step = await scanNext(store, rules, job, pause)
      if (step === undefined) return job
      job = await repository.advance(job, step)
    }
  }

  it.each([
    ['patch', '{"text":"y"}', [], COUNT],
    ['delete', undefined, [], COUNT],
    ['patch', '{"text":"y"}', [['even', 'true']], COUNT / 2],
    ['delete', undefined, [['even', 'true']], COUNT / 2],
  ] as const)(
    'reads each document a bounded number of times to %s it, %j %j',
    async (kind, patch, filter, count) => {
      const store = await openWithDocuments()
      const repository = createJobRepository(store, now)
      const request = patch === undefined ? { filter } : { filter, patch, schema: null }
      const job = await prepared(
        store,
        repository,
        await repository.create({ where, kind, state: 'attached', request }),
      )
      const apply = await prepareApply('postgres', rules, job, pause, () => performance.now())
      let read = 0
      const ended = await repository.finish(job, async (trx) => {
        const before = await rowsRead(trx)
        const changed = await apply(trx)
        read = (await rowsRead(trx)) - before
        return changed
      })
      expect(ended.found).toBe(count)
      expect(read / count).toBeLessThan(20)
    },
  )

  it('reads each document a bounded number of times to delete a dropped database', async () => {
    const store = await openWithDocuments()
    await sql`update documents set database = 'dropped'`.execute(store.db)
    const read = await store.transaction(async (trx) => {
      const repository = createDocumentRepository({ ...store, db: trx as unknown as Queries })
      expect(await repository.purge('dropped')).toBe(PURGE_BATCH)
      return rowsRead(trx)
    })
    expect(read / PURGE_BATCH).toBeLessThan(20)
  })
})

forEachEngine((engine) => {
  it('limits the time of each attempt to merge concurrently changed documents', async () => {
    const store = await engine.open()
    await createDocumentRepository(store).insert(where, [{ id: 'a', body: '{"id":"a"}' }])
    const repository = createJobRepository(store, now)
    const request = { filter: [], patch: '{"on":true}', schema: null }
    const created = await repository.create({ where, kind: 'patch', state: 'attached', request })
    const staged = [{ id: 'a', seen: 'earlier', tag: 't', body: '{"id":"a","on":true}' }]
    const job = await repository.advance(created, { scanned: 1, cursor: 'a', found: 1, staged })
    let time = 0
    const merger: typeof rules.merger = async () => async () => {
      time += MERGE_TIME - 1
      return '{"id":"a","on":true}'
    }
    const slow = { ...rules, merger }
    const apply = await prepareApply(engine.name, slow, job, pause, () => time)
    let attempts = 0
    const ended = await repository.finish(job, async (trx) => {
      const changed = await apply(trx)
      if (++attempts === 1) throw Object.assign(new Error('deadlock detected'), { code: '40P01' })
      return changed
    })
    expect(attempts).toBe(2)
    expect(ended.found).toBe(1)
  })
})
