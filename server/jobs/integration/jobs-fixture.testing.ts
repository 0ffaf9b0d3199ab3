import { beforeEach, expect } from 'vitest'
import { createBodyOf } from '../../documents/creation-routes.ts'
import { createTestDocuments } from '../../documents/documents.testing.ts'
import { ScanLimit } from '../../documents/find/scan-limit.ts'
import {
  createDocumentRepository,
  type DocumentRepository,
} from '../../documents/repository/stored-documents.ts'
import type { CurrentSchemaOf } from '../../documents/schemas/schemas.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import type { Store } from '../../storage/store.ts'
import { storeDatabases } from '../../storage/test-support/databases.testing.ts'
import type { TestEngine } from '../../storage/test-support/each-engine.testing.ts'
import type { Job } from '../job.ts'
import { createTestJobs } from '../jobs.testing.ts'
import type { Jobs } from '../jobs.ts'
import { LEASE } from '../lease.ts'

export const where = { database: '_system', collection: 'articles' }
export const everything = { filter: [] }
export const documents = (count: number, more: object = {}) =>
  JSON.stringify(Array.from({ length: count }, (_, n) => ({ id: `d${10_000 + n}`, n, ...more })))

/** Returns what tests of jobs share, with a new store for each test. */
export function createJobsFixture(engine: TestEngine) {
  let store: Store
  let repository: DocumentRepository
  let now: number
  let errors: unknown[]
  const renewals = new Set<() => void>()

  beforeEach(async () => {
    store = await engine.open()
    await storeDatabases(store, 'x')
    repository = createDocumentRepository(store)
    now = 1_700_000_000_000
    errors = []
    renewals.clear()
  })
  /** Returns jobs that behave like another process on the same store. */
  const node = (
    pause: () => Promise<unknown> = async () => {},
    schemaOf?: CurrentSchemaOf,
    clock = () => now,
    scans = new ScanLimit(),
  ): Jobs =>
    createTestJobs(store, {
      schemaOf,
      scans,
      now: clock,
      pause,
      onError: (error) => errors.push(error),
      renewalTimer(renew) {
        renewals.add(renew)
        return () => renewals.delete(renew)
      },
    })
  const ended = async (jobs: Jobs, { id }: { id: string }): Promise<Job> => {
    await expect
      .poll(async () => (await jobs.read('_system', id)).state)
      .toMatch(/^(done|failed|cancelled)$/)
    return jobs.read('_system', id)
  }
  const create = (
    jobs: Jobs,
    text: string,
    {
      respondAsync = true,
      target = where,
    }: { respondAsync?: boolean; target?: CollectionRef } = {},
  ) => {
    const body = createBodyOf(Buffer.from(text))
    if (!('parts' in body)) throw new Error('no array')
    const documents = createTestDocuments({ repository, now: () => now })
    return documents.createMany(target, body.parts, {
      onConflict: 'fail',
      respondAsync,
      beginImport: (parts) => jobs.beginImport(target, { onConflict: 'fail' }, parts),
    })
  }
  /** Stores `count` documents without a job. */
  const insert = (count: number) => {
    const all: { id: string }[] = JSON.parse(documents(count))
    return repository.insert(
      where,
      all.map((each) => ({ id: each.id, body: JSON.stringify(each) })),
    )
  }
  const created = async (jobs: Jobs, text: string): Promise<Job> => {
    const result = await create(jobs, text)
    if (!('job' in result)) throw new Error('no job')
    return jobs.read('_system', result.job)
  }
  const stored = async () => {
    const rows = []
    for (;;) {
      const page = await repository.list(where, { after: rows.at(-1)?.id }, 1_000)
      rows.push(...page)
      if (page.length < 1_000) return rows.map(({ body }) => JSON.parse(body))
    }
  }
  const countRows = async () => {
    const count = async (table: 'jobs' | 'job_documents') => {
      const query = store.db.selectFrom(table).select(({ fn }) => fn.countAll().as('rows'))
      return Number((await query.executeTakeFirstOrThrow()).rows)
    }
    return [await count('jobs'), await count('job_documents')]
  }
  /**
   * Lets almost the time of a lease pass. Resolves once the lease of the only job of the collection
   * is renewed.
   */
  const passLease = async (collection = where.collection) => {
    now += LEASE - 1
    const leases = () => {
      // A renewal may fail on a busy machine; the next one succeeds.
      for (const renew of renewals) renew()
      return store.db
        .selectFrom('jobs')
        .select('claimed_until')
        .where('collection', '=', collection)
        .execute()
    }
    await expect.poll(leases).toEqual([{ claimed_until: now + LEASE }])
  }
  /** Returns a pause that calls `act` the given time. */
  const after = (times: number, act: () => unknown) => async () => {
    if (--times === 0) await act()
  }

  return {
    get store() {
      return store
    },
    get repository() {
      return repository
    },
    /** The time of all nodes without a clock of their own, ms since 1970. */
    get now() {
      return now
    },
    set now(time) {
      now = time
    },
    /** Errors that jobs have reported. */
    get errors() {
      return errors
    },
    /** Number of timers that renew leases. */
    get timers() {
      return renewals.size
    },
    node,
    passLease,
    ended,
    create,
    insert,
    created,
    stored,
    countRows,
    after,
  }
}
