import { expect, vi } from 'vitest'
import { readProposals } from '../../../endpoints/registry/placement/proposals.ts'
import { openStore, type StoreLocation } from '../../../storage/open.ts'
import type { TestResponse } from '../../../test-support/start.testing.ts'
import { pick, type Random } from '../settings.testing.ts'
import { auditRowsOf } from './audit.testing.ts'
import { changeMatchingInSteps } from './documents.testing.ts'
import { createManyInSteps, importDatabase, importMany } from './imports.testing.ts'
import { type Call, ENDED, type Model, type Operation, withoutDatabase } from './model.testing.ts'

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
  const changes = [changeMatchingInSteps, createManyInSteps, importMany, importDatabase]
  const { partial = [], ...change } = await pick(random, changes)(model, name, random, value, call)
  const job = { ...change, headers: { ...change.headers, Prefer: 'respond-async' } }
  if (random(4) > 0) {
    return {
      ...job,
      async finish(response) {
        const { json, text } = await ended(response, call)
        expect(json).toMatchObject({ state: 'done', failure: null })
        // Null if no document matched.
        if (json.result) await change.finish?.({ ...response, text, json: json.result })
      },
    }
  }
  if (random(2) === 0) return cancelled({ ...job, after: [...job.after, model, ...partial] }, call)
  return {
    ...job,
    after: [withoutDatabase(model, name)],
    between: change.after,
    // An import may have created indexes of the database before it is dropped.
    possibleRows: [
      ...(change.possibleRows ?? []),
      ...change.after.flatMap((after) => auditRowsOf(model, after)),
    ],
    async finish({ headers: { location } }) {
      expect((await call('DELETE', `/_api/database/${name}`)).status).toBe(200)
      expect((await call('GET', String(location))).status).toBe(404)
    },
  }
}

/** Waits for the end of a job, and returns its last state. */
const ended = ({ headers: { location } }: TestResponse, call: Call) =>
  vi.waitUntil(async () => {
    const response = await call('GET', String(location))
    return response.status === 200 && response
  }, ENDED)

/** Cancels a job, unless it has ended by then. What it has done stays. */
const cancelled = (job: Operation, call: Call): Operation => ({
  ...job,
  async finish({ headers: { location } }) {
    const path = String(location)
    const { status, json } = await call('DELETE', path)
    expect(status).toBe(200)
    expect(json).toMatchObject({ state: expect.stringMatching(/^(?:done|cancelled)$/) })
    expect((await call('GET', path)).json).toMatchObject({ state: json.state, failure: null })
  },
})

/**
 * Waits until the store has no jobs and proposed endpoints in progress, after a kill and a restart.
 */
export async function untilIdle(location: StoreLocation): Promise<void> {
  const store = await openStore(location, 'tool')
  try {
    await vi.waitFor(async () => {
      const running = store.db.selectFrom('jobs').select('id').where('state', '=', 'running')
      expect(await running.execute()).toEqual([])
      expect(await readProposals(store)).toEqual([])
    }, RESUMED)
  } finally {
    await store.close()
  }
}
