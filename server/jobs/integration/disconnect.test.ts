import { AsyncLocalStorage } from 'node:async_hooks'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { openIndexesOf } from '../../documents/indexes/build/build-indexes.testing.ts'
import { expectEntriesOfDocuments } from '../../documents/indexes/write/stored-entries.testing.ts'
import type { CurrentSchemaOf } from '../../documents/schemas/schemas.ts'
import { testCaller } from '../../storage/test-support/caller.testing.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import type { Jobs } from '../jobs.ts'
import { createJobsFixture, documents, everything, text, where } from './jobs-fixture.testing.ts'

const COUNT = 300
const hasLeft = expect.objectContaining({
  code: 'busy',
  message: 'The client has disconnected.',
})

forEachEngine((engine) => {
  const fixture = createJobsFixture(engine)
  const { node, stored, countRows } = fixture
  let indexes: ReturnType<typeof openIndexesOf>

  beforeEach(() => {
    indexes = openIndexesOf(fixture.store)
  })

  /**
   * Repeats a request whose client disconnects at the first step, at the second step, and so on,
   * until the change is committed by then. Returns the number of steps and the last result.
   *
   * @param verify checks the state after the others, which made `further` steps.
   */
  async function leaveAtEachStep<T>(
    request: (jobs: Jobs, signal: AbortSignal) => Promise<T>,
    verify: (further: number) => Promise<void>,
  ): Promise<[number, T]> {
    const outside = AsyncLocalStorage.snapshot()
    const committed = () =>
      fixture.store.db
        .selectFrom('jobs')
        .select('id')
        .where('state', 'in', ['done', 'applying'])
        .execute()
    for (let leaveAt = 1; ; leaveAt++) {
      const client = new AbortController()
      let pauses = 0
      let isCommitted = false
      const jobs = node(async () => {
        if (++pauses !== leaveAt) return
        isCommitted = (await outside(committed)).length > 0
        client.abort()
      })
      const requesting = request(jobs, client.signal)
      const error = await requesting.then(
        () => undefined,
        (reason: unknown) => reason,
      )
      const further = pauses - leaveAt
      await jobs.stop()
      if (isCommitted || !client.signal.aborted) return [leaveAt, await requesting]
      expect(error).toEqual(hasLeft)
      await verify(further)
    }
  }

  describe('a change whose client disconnects', () => {
    beforeEach(() =>
      fixture.repository.insert(
        where,
        Array.from({ length: COUNT }, (_, n) => {
          const id = `d${10_000 + n}`
          return { id, body: JSON.stringify({ id, n, author: n % 2 === 0 ? 'ada' : 'bob', text }) }
        }),
      ),
    )

    const byAda = { filter: [['author', 'ada']] as const }
    const patch = JSON.stringify({ on: true, text })

    it.each([
      ['a patch', 'patch', false],
      ['a patch of values in a unique index', 'patch', true],
      ['a deletion', 'delete', false],
    ] as const)('stops at any step until it is committed: %s', async (_, kind, isReserved) => {
      if (isReserved) {
        await indexes.put(where, 'pair', ['on', 'n'], true)
        await indexes.build()
      }
      const request = kind === 'delete' ? everything : { ...everything, patch }
      const before = await stored()
      const [steps, result] = await leaveAtEachStep(
        (jobs, signal) => jobs.run(where, kind, request, testCaller(signal)),
        async (further) => {
          // Reserved values are released in three steps.
          expect(further).toBeLessThan(isReserved ? 5 : 2)
          expect(await stored()).toEqual(before)
          await expectEntriesOfDocuments(fixture.store)
        },
      )
      expect(result).toBe(COUNT)
      expect(steps).toBeGreaterThan(4)
      const jobs = node()
      await jobs.restore()
      const changed = before.map((each) => ({ ...each, on: true }))
      expect(await stored()).toEqual(kind === 'delete' ? [] : changed)
      await jobs.stop()
    })

    it('stops while its documents are validated by a new schema', async () => {
      const client = new AbortController()
      let tags = 0
      let batches = 0
      const schemaOf: CurrentSchemaOf = async () => ({
        tag: `t${Math.min(++tags, 2)}`,
        async validate({ length }) {
          // The patched documents were validated one by one.
          if (length === 1) return
          batches++
          client.abort()
        },
      })
      const jobs = node(undefined, schemaOf)
      const changing = jobs.run(where, 'patch', { ...everything, patch }, testCaller(client.signal))
      await expect(changing).rejects.toEqual(hasLeft)
      expect(batches).toBe(1)
      await jobs.stop()
    })

    it('stops reading an index', async () => {
      await indexes.put(where, 'by-author', ['author'])
      await indexes.build()
      const client = new AbortController()
      let pauses = 0
      const jobs = node(async () => {
        pauses++
        client.abort()
      })
      await expect(jobs.run(where, 'delete', byAda, testCaller(client.signal))).rejects.toEqual(
        hasLeft,
      )
      expect(pauses).toBe(1)
      expect(await stored()).toHaveLength(COUNT)
      await expect.poll(countRows).toEqual([0, 0])
      await jobs.stop()
    })

    if (engine.name !== 'sqlite') return
    it('changes nothing while it waits for other writes', async () => {
      const writes = fixture.store.collectionWrites
      const client = new AbortController()
      if (writes === undefined) throw new Error('only with SQLite')
      const turn = writes.turn.bind(writes)
      vi.spyOn(writes, 'turn').mockImplementation((target, work, signal) =>
        turn(
          target,
          (own) =>
            work({
              ...own,
              async close() {
                client.abort()
                await own.close()
              },
            }),
          signal,
        ),
      )
      const jobs = node()
      const changing = jobs.run(where, 'delete', everything, testCaller(client.signal))
      await expect(changing).rejects.toEqual(hasLeft)
      expect(await stored()).toHaveLength(COUNT)
      await jobs.stop()
    })
  })

  it('creates no document of an array whose client disconnects before the commit', async () => {
    await indexes.put(where, 'by-n', ['n'], true)
    await indexes.build()
    const array = documents(1_200, { text: text.slice(0, 500) })
    const count = async () => (await fixture.repository.list(where, {}, 2_000)).length
    const [steps] = await leaveAtEachStep(
      (jobs, signal) => fixture.create(jobs, array, { respondAsync: false, signal }),
      async (further) => {
        // Values that are reserved in unique indexes are released in steps.
        expect(further).toBeLessThan(6)
        expect(await count()).toBe(0)
        await expectEntriesOfDocuments(fixture.store)
      },
    )
    expect(steps).toBeGreaterThan(5)
    const jobs = node()
    await jobs.restore()
    expect(await count()).toBe(1_200)
    await jobs.stop()
  })
})
