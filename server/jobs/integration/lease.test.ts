import { AsyncLocalStorage } from 'node:async_hooks'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { CONNECTIONS } from '../../storage/availability/connection-limits.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { LEASE } from '../repository/lease.ts'
import { createJobRepository } from '../repository/repository.ts'
import { createJobsFixture, everything, where } from './jobs-fixture.testing.ts'

const ada = { name: 'ada', by: 'session', address: null } as const
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

  /**
   * Returns a pause that calls `act`, outside of the transaction, while one changes the job of
   * {@link where}, and none another job: `act` may wait for that one.
   */
  function duringChange(act: () => Promise<void>): () => Promise<void> {
    const outside = AsyncLocalStorage.snapshot()
    return () =>
      outside(async () => {
        const { db } = fixture.store
        const all = await db.selectFrom('jobs').select('collection').execute()
        const unlocked = await sql<{ collection: string }>`
          select collection from jobs for update skip locked`.execute(db)
        const free = new Set(unlocked.rows.map(({ collection }) => collection))
        const locked = all.filter(({ collection }) => !free.has(collection))
        if (locked.length === 1 && locked[0]?.collection === where.collection) await act()
      })
  }

  it('is renewed for the other jobs of a node while it applies a change', async () => {
    await insert(500)
    // So many that their job does not end before the change is applied.
    const others = Array.from({ length: 20_000 }, (_, n) => ({ id: `o${10_000 + n}`, body: '{}' }))
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
    await jobs.cancel('_system', long.id, ada)
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
