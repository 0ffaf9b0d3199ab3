import { expect, vi } from 'vitest'
import { openStore, type StoreLocation } from '../../../storage/open.ts'
import { pick, type Random } from '../settings.testing.ts'
import { changeMatching, withoutDatabase } from './databases.testing.ts'
import { createMany, importDatabase, importMany } from './imports.testing.ts'
import type { Call, Model, Operation } from './model.testing.ts'

/** Maximum time of a job on a busy machine. A request that fails ends the wait. */
const ENDED = { timeout: 60_000, interval: 10 }

/**
 * Maximum time until a node on PostgreSQL has resumed and completed the job of a killed process,
 * whose lease expires after 15 s.
 */
const RESUMED = { timeout: 120_000, interval: 50 }

/**
 * Changes the documents of a database in a job, and waits for its end, cancels it or drops the
 * database.
 */
export async function runJob(
  model: Model,
  name: string,
  random: Random,
  value: number,
  call: Call,
): Promise<Operation> {
  const changes = [changeMatching, createMany, importMany, importDatabase]
  const { partial: _, ...change } = await pick(random, changes)(model, name, random, value, call)
  const job = { ...change, headers: { ...change.headers, Prefer: 'respond-async' } }
  if (random(4) > 0) {
    return {
      ...job,
      async finish({ headers: { location } }) {
        const path = String(location)
        await vi.waitUntil(async () => (await call('GET', path)).status === 200, ENDED)
        expect((await call('GET', path)).json).toMatchObject({ state: 'done', failure: null })
      },
    }
  }
  // An import keeps the documents that it has stored.
  if (change.method !== 'POST' || Array.isArray(change.body)) {
    if (random(2) === 0) return cancelled(model, job, call)
  }
  return {
    ...job,
    after: [withoutDatabase(model, name)],
    between: change.after,
    async finish({ headers: { location } }) {
      expect((await call('DELETE', `/_api/database/${name}`)).status).toBe(200)
      expect((await call('GET', String(location))).status).toBe(404)
    },
  }
}

/** Cancels a job, unless it has ended by then. */
const cancelled = (model: Model, job: Operation, call: Call): Operation => ({
  ...job,
  after: [...job.after, model],
  async finish({ headers: { location } }) {
    const path = String(location)
    const { status, json } = await call('DELETE', path)
    expect(status).toBe(200)
    expect(json).toMatchObject({ state: expect.stringMatching(/^(?:done|cancelled)$/) })
    expect((await call('GET', path)).json).toMatchObject({ state: json.state, failure: null })
  },
})

/** Waits until the store has no jobs and no bulk changes in progress, after a kill and a restart. */
export async function untilJobsEnd(location: StoreLocation): Promise<void> {
  const { db, close } = await openStore(location, 'tool')
  try {
    await vi.waitFor(async () => {
      for (const table of ['jobs', 'endpoint_changes'] as const) {
        const running = db.selectFrom(table).select('id').where('state', '=', 'running')
        expect(await running.execute()).toEqual([])
      }
    }, RESUMED)
  } finally {
    await close()
  }
}
