import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { JobKind } from '../contract/job.ts'
import { StoreUnavailable } from '../storage/availability/unavailable.ts'
import { forEachEngine } from '../storage/test-support/each-engine.testing.ts'
import { LEASE, LeaseLost } from './repository/lease.ts'
import { createJobRepository } from './repository/repository.ts'
import { createRunner } from './runner.ts'

const where = { database: '_system', collection: 'articles' }
const everything = { filter: [], schema: null }
const now = () => 1_700_000_000_000

forEachEngine((engine) => {
  it('releases its jobs once the database is available again, but not those of requests', async () => {
    const store = await engine.open()
    const repository = createJobRepository(store, now)
    const other = createJobRepository(store, now)
    let isAvailable = false
    const errors: unknown[] = []
    const stepped: string[] = []
    const runner = createRunner({
      isBusy: () => false,
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
      kind: 'delete',
      state: 'attached',
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
    expect(await repository.read(requested.id)).toMatchObject({ state: 'attached' })
  })

  it('releases the job whose step failed, so that other nodes can run it immediately', async () => {
    const store = await engine.open()
    const repository = createJobRepository(store, now)
    const errors: unknown[] = []
    const runner = createRunner({
      isBusy: () => false,
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
      isBusy: () => false,
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
      isBusy: () => false,
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
    expect(await other.cancel(cancelled, 'cancelled')).toMatchObject({ state: 'cancelled' })
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

  describe('jobs that wait for a change of their collection', () => {
    let isBusy: boolean
    let change: PromiseWithResolvers<void>
    let begun: string[]
    let stepped: string[]

    beforeEach(() => {
      isBusy = true
      change = Promise.withResolvers()
      begun = []
      stepped = []
    })
    const endChange = () => {
      isBusy = false
      change.resolve()
    }
    /** Returns a runner whose steps wait for the change; listings do not end. */
    const waitingRunner = (repository: ReturnType<typeof createJobRepository>) =>
      createRunner({
        repository,
        isBusy: ({ collection }) => isBusy && collection === where.collection,
        async step(job) {
          begun.push(job.collection)
          if (job.collection === where.collection) await change.promise
          stepped.push(job.kind === 'list' ? 'list' : job.collection)
          if (job.kind === 'list') return job
          await repository.discard([job.id])
          return { ...job, state: 'done' }
        },
        pause: () => new Promise(setImmediate),
        onError: (error) => expect.unreachable(String(error)),
      })

    it('do not delay others', async () => {
      const store = await engine.open()
      const repository = createJobRepository(store, now)
      const runner = waitingRunner(repository)
      for (let n = 0; n < 10; n++)
        await repository.create({ where, kind: 'delete', state: 'running', request: everything })
      const other = { ...where, collection: 'other' }
      await repository.create({
        where: other,
        kind: 'delete',
        state: 'running',
        request: everything,
      })
      runner.wake()
      await expect.poll(() => stepped).toEqual(['other'])
      // Jobs that are added later do not wait for the end of the change either.
      await repository.create({
        where: other,
        kind: 'delete',
        state: 'running',
        request: everything,
      })
      runner.wake()
      await expect.poll(() => stepped).toEqual(['other', 'other'])
      expect(begun.filter((collection) => collection === where.collection)).toHaveLength(4)
      endChange()
      await expect.poll(() => stepped.slice(2)).toEqual(Array(10).fill(where.collection))
      await runner.stop()
    })

    it('are limited if they are listings, and skipped if they were cancelled', async () => {
      const store = await engine.open()
      const repository = createJobRepository(store, now)
      const create = (kind: JobKind) =>
        repository.create({ where, kind, state: 'running', request: everything })
      for (let n = 0; n < 4; n++) await create('delete')
      const cancelled = await create('delete')
      for (let n = 0; n < 6; n++) await create('list')
      for (let n = 0; n < 2; n++) await create('delete')
      const claims = vi.spyOn(repository, 'claim')
      const runner = waitingRunner(repository)
      runner.wake()
      await expect.poll(() => claims.mock.calls.length).toBeGreaterThan(13)
      await repository.discard([cancelled.id])
      endChange()
      await expect.poll(() => stepped.filter((each) => each !== 'list')).toHaveLength(6)
      await runner.stop()
    })

    it('continue although further changes follow without a pause', async () => {
      const repository = createJobRepository(await engine.open(), now)
      const runner = waitingRunner(repository)
      change.resolve()
      for (let n = 0; n < 6; n++)
        await repository.create({ where, kind: 'delete', state: 'running', request: everything })
      runner.wake()
      await expect.poll(() => stepped).toHaveLength(6)
      await runner.stop()
    })

    it.each([
      ['the node stops', true],
      ['the database is unavailable', false],
    ])('are released when %s', async (_, isStopped) => {
      const store = await engine.open()
      const repository = createJobRepository(store, now)
      const other = createJobRepository(store, now)
      const errors: unknown[] = []
      let steps = 0
      const runner = createRunner({
        repository,
        isBusy: () => true,
        pause: async () => {},
        async step(_job, signal) {
          if (++steps === 2 && !isStopped) throw new StoreUnavailable()
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
          throw new LeaseLost()
        },
        onError: (error) => errors.push(error),
      })
      for (let n = 0; n < 2; n++)
        await repository.create({ where, kind: 'delete', state: 'running', request: everything })
      runner.wake()
      await expect.poll(() => steps).toBe(2)
      if (isStopped) await runner.stop()
      else await expect.poll(() => errors).toHaveLength(1)
      expect([await other.claim(), await other.claim()]).not.toContain(undefined)
      await runner.stop()
    })
  })

  it('runs a change beside many listings that were created before it', async () => {
    const repository = createJobRepository(await engine.open(), now)
    for (let n = 0; n < 10; n++)
      await repository.create({
        where,
        kind: 'list',
        state: 'running',
        request: everything,
        caller: n < 8 ? 'a' : 'b',
      })
    const { id } = await repository.create({
      where,
      kind: 'delete',
      state: 'running',
      request: everything,
      caller: 'a',
    })
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    const listings = new Map<string, string>()
    const runner = createRunner({
      isBusy: () => false,
      repository,
      // The listings do not end.
      async step(job) {
        if (job.id !== id) {
          listings.set(job.id, job.caller)
          return job
        }
        end()
        return { ...job, state: 'done' }
      },
      pause: () => new Promise(setImmediate),
      onError: (error) => expect.unreachable(String(error)),
    })
    runner.wake()
    await ended
    await expect.poll(() => [...listings.values()].sort()).toEqual(['a', 'b'])
    await runner.stop()
    expect(listings.size).toBe(2)
  })

  it('runs jobs of other callers next while those of one caller do not end', async () => {
    const repository = createJobRepository(await engine.open(), now)
    for (const caller of [...'aaaaaabbc'])
      await repository.create({
        where,
        kind: 'delete',
        state: 'running',
        request: everything,
        caller,
      })
    const ended: string[] = []
    const endless = new Set<string>()
    const runner = createRunner({
      isBusy: () => false,
      repository,
      async step(job) {
        if (job.caller === 'a') {
          endless.add(job.id)
          return job
        }
        ended.push(job.caller)
        await repository.discard([job.id])
        return { ...job, state: 'done' }
      },
      pause: () => new Promise(setImmediate),
      onError: (error) => expect.unreachable(String(error)),
    })
    runner.wake()
    await expect.poll(() => [ended.length, endless.size]).toEqual([3, 3])
    await runner.stop()
    expect(ended.sort()).toEqual(['b', 'b', 'c'])
    expect(endless.size).toBe(3)
  })
})
