import { expect, it } from 'vitest'
import { StoreUnavailable } from '../storage/availability/unavailable.ts'
import { forEngine } from '../storage/test-support/each-engine.testing.ts'
import { createJobRepository } from './job-repository.ts'
import { LEASE, LeaseLost } from './lease.ts'
import { createRunner } from './runner.ts'

const where = { database: '_system', collection: 'articles' }
const everything = { filter: [] }
const now = () => 1_700_000_000_000

forEngine('sqlite', (engine) => {
  it('releases its jobs once the database is available again, but not those that are prepared', async () => {
    const store = await engine.open()
    const repository = createJobRepository(store, now)
    const other = createJobRepository(store, now)
    let isAvailable = false
    const errors: unknown[] = []
    const stepped: string[] = []
    const runner = createRunner({
      repository: {
        ...repository,
        release: () =>
          isAvailable ? repository.release() : Promise.reject(new StoreUnavailable()),
      },
      async step(job) {
        if (!isAvailable) throw new StoreUnavailable()
        stepped.push(job.id)
        return { ...job, state: 'done' }
      },
      pause: async () => {},
      onError: (error) => errors.push(error),
    })
    const requested = await repository.create({
      where,
      kind: 'import',
      state: 'preparing',
      request: everything,
    })
    const { id } = await repository.create({
      where,
      kind: 'delete',
      state: 'running',
      request: everything,
    })
    runner.wake()
    await expect.poll(() => errors).toHaveLength(1)
    expect(await other.claim()).toBeUndefined()
    isAvailable = true
    runner.wake()
    await expect.poll(() => stepped).toEqual([id])
    await runner.stop()
    expect(await repository.read(requested.id)).toMatchObject({ state: 'preparing' })
  })

  it('releases the job whose step failed, so that other nodes can run it immediately', async () => {
    const store = await engine.open()
    const repository = createJobRepository(store, now)
    const errors: unknown[] = []
    const runner = createRunner({
      repository,
      step: () => Promise.reject(new StoreUnavailable()),
      pause: async () => {},
      onError: (error) => errors.push(error),
    })
    const { id } = await repository.create({
      where,
      kind: 'delete',
      state: 'running',
      request: everything,
    })
    runner.wake()
    await expect.poll(() => errors).toHaveLength(1)
    expect(await createJobRepository(store, now).claim()).toMatchObject({ id })
    await runner.stop()
  })

  it('renews the leases of its jobs while a step of one of them takes long', async () => {
    const store = await engine.open()
    let time = now()
    const renewals = new Set<() => void>()
    const repository = createJobRepository(
      store,
      () => time,
      undefined,
      (renew) => {
        renewals.add(renew)
        return () => renewals.delete(renew)
      },
    )
    for (let n = 0; n < 2; n++)
      await repository.create({ where, kind: 'delete', state: 'running', request: everything })
    let steps = 0
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const runner = createRunner({
      repository,
      async step(job) {
        // The node claims the second job after the first step.
        if (++steps === 1) return job
        begin()
        await released
        return { ...job, state: 'done' }
      },
      pause: async () => {},
      onError: (error) => expect.unreachable(String(error)),
    })
    runner.wake()
    await begun
    time += LEASE - 1
    const leases = () => {
      for (const renew of renewals) renew()
      return store.db.selectFrom('jobs').select('claimed_until').execute()
    }
    const renewed = { claimed_until: time + LEASE }
    await expect.poll(leases).toEqual([renewed, renewed])
    release()
    await runner.stop()
    expect(renewals.size).toBe(0)
  })

  it('aborts the step of a job that another node has cancelled, and no other', async () => {
    const store = await engine.open()
    const renewals = new Set<() => void>()
    const repository = createJobRepository(store, now, undefined, (renew) => {
      renewals.add(renew)
      return () => renewals.delete(renew)
    })
    const kept = await repository.create({
      where,
      kind: 'delete',
      state: 'running',
      request: everything,
    })
    const cancelled = await repository.create({
      where,
      kind: 'list',
      state: 'running',
      request: everything,
    })
    const signals = new Map<string, AbortSignal>()
    const runner = createRunner({
      repository,
      async step(job, signal) {
        signals.set(job.id, signal)
        if (job.id === kept.id) return job
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        throw new LeaseLost()
      },
      pause: () => new Promise(setImmediate),
      onError: (error) => expect.unreachable(String(error)),
    })
    runner.wake()
    await expect.poll(() => signals.size).toBe(2)
    for (const renew of renewals) renew()
    const other = createJobRepository(store, now)
    expect(await other.cancel(cancelled)).toMatchObject({ state: 'cancelled' })
    await expect
      .poll(() => {
        for (const renew of renewals) renew()
        return signals.get(cancelled.id)?.aborted
      })
      .toBe(true)
    expect(signals.get(kept.id)?.aborted).toBe(false)
    await runner.stop()
    expect(await repository.read(cancelled.id)).toMatchObject({ state: 'cancelled' })
  })
})
