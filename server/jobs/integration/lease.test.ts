import { AsyncLocalStorage } from 'node:async_hooks'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { CONNECTIONS } from '../../storage/availability/connection-limits.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { LEASE } from '../repository/lease.ts'
import { createJobRepository } from '../repository/repository.ts'
import { createJobsFixture, everything, where } from './jobs-fixture.testing.ts'

const patched = { ...everything, patch: '{"on":true}' }

forEachEngine((engine) => {
  const fixture = createJobsFixture(engine)
  const { node, passLease, ended, insert, after } = fixture

  it('is renewed for a request while a step takes long', async () => {
    await insert(1)
    const jobs = node(after(1, passLease))
    expect(await jobs.run(where, 'delete', everything)).toBe(1)
    await jobs.stop()
    expect(fixture.timers).toBe(0)
  })

  // On SQLite, which has a single node, changes do not wait for connections or other nodes.
  if (engine.name !== 'postgres') return

  it('is renewed while a request waits for a connection', async () => {
    await insert(1)
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const others = Array.from({ length: CONNECTIONS.long }, () =>
      fixture.store.transaction(() => released, 'long'),
    )
    const jobs = node()
    const running = jobs.run(where, 'delete', everything)
    await expect.poll(() => fixture.store.connections().waiting).toBe(1)
    await passLease()
    release()
    expect(await running).toBe(1)
    await Promise.all(others)
    await jobs.stop()
  })

  /** Returns a pause that calls `act` while a transaction changes a job, outside of it. */
  function duringChange(act: () => Promise<void>): () => Promise<void> {
    const outside = AsyncLocalStorage.snapshot()
    return () =>
      outside(async () => {
        const { db } = fixture.store
        const all = await sql`select id from jobs`.execute(db)
        const unlocked = await sql`select id from jobs for update skip locked`.execute(db)
        if (unlocked.rows.length < all.rows.length) await act()
      })
  }

  it('is renewed for the other jobs of a node while it applies a change', async () => {
    await insert(500)
    const others = Array.from({ length: 8_000 }, (_, n) => ({ id: `o${10_000 + n}`, body: '{}' }))
    await fixture.repository.insert({ ...where, collection: 'others' }, others)
    const other = createJobRepository(fixture.store, () => fixture.now)
    const claims: unknown[] = []
    const jobs = node(
      duringChange(async () => {
        await passLease('others')
        // The committed lease of the changed job has expired.
        fixture.now += LEASE / 2
        claims.push(await other.claim())
      }),
    )
    const long = await jobs.begin({ ...where, collection: 'others' }, 'list', everything)
    expect(await ended(jobs, await jobs.begin(where, 'patch', patched))).toMatchObject({
      state: 'done',
      found: 500,
    })
    await ended(jobs, long)
    expect(new Set(claims)).toEqual(new Set([undefined]))
    await jobs.stop()
  })

  it('may expire while the change of a request is applied, because other nodes skip the job', async () => {
    await insert(1_200)
    const other = createJobRepository(fixture.store, () => fixture.now)
    let discards = 0
    const jobs = node(
      duringChange(async () => {
        fixture.now += LEASE + 1
        await other.discardStale()
        discards++
      }),
    )
    expect(await jobs.run(where, 'patch', patched)).toBe(1_200)
    expect(discards).toBeGreaterThan(0)
    await jobs.stop()
  })
})
