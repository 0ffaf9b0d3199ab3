import { randomUUID } from 'node:crypto'
import { type ProviderTest, providerTest } from '../../contract/access/provider.ts'
import { toIsoTime } from '../../contract/iso-time.ts'
import { Failure } from '../../failure.ts'
import { beginChange, type Caller } from '../../storage/changes/begin-change.ts'
import type { Recorder } from '../../storage/changes/recorder.ts'
import { parseColumn } from '../../storage/sql/parse-column.ts'
import type { Store } from '../../storage/store.ts'

/** How long a test can be opened and read, ms: the time of its sign-in, twice. */
const TEST_TIME = 600_000

/** Maximum number of tests in the store. */
const TESTS = 100

/** Maximum number of requests that a step shows, and of their characters and those of its detail. */
const SHOWN = { requests: 20, characters: 500 } as const

type Step = ProviderTest['steps'][number]

export interface ProviderTestsDeps {
  readonly store: Store
  readonly record: Recorder
  /** Returns the time, ms since 1970. */
  readonly now: () => number
}

export type ProviderTests = ReturnType<typeof createProviderTests>

/** Creates the tests of providers, shared by all nodes: any of them may get the callback. */
export function createProviderTests({ store, record, now }: ProviderTestsDeps) {
  const { db } = store
  async function read(id: string): Promise<ProviderTest | undefined> {
    const row = await db
      .selectFrom('provider_tests')
      .selectAll()
      .where('id', '=', id)
      .where('expires_at', '>', now())
      .executeTakeFirst()
    return row && parseColumn(providerTest, 'provider_tests', toView(row))
  }
  return {
    /** Starts a test. Returns its id. @throws Failure `too-many-requests` */
    create: (provider: string, actor: Caller): Promise<string> =>
      store.change(async (trx) => {
        await beginChange(trx, actor)
        await trx.deleteFrom('provider_tests').where('expires_at', '<=', now()).execute()
        const { count } = await trx
          .selectFrom('provider_tests')
          .select(({ fn }) => fn.countAll().as('count'))
          .executeTakeFirstOrThrow()
        if (Number(count) >= TESTS) {
          throw new Failure('too-many-requests', 'Too many tests were started. Try again later.')
        }
        const id = randomUUID()
        await trx
          .insertInto('provider_tests')
          .values({ id, provider, state: 'waiting', steps: '[]', expires_at: now() + TEST_TIME })
          .execute()
        await record(trx, {
          ...{ actor, action: 'provider.test', target: provider, outcome: 'done' },
          ...{ before: null, after: null },
        })
        return id
      }),
    /** @throws Failure `not-found` */
    async get(id: string, provider: string): Promise<ProviderTest> {
      const found = await read(id)
      if (found?.provider === provider) return found
      throw new Failure('not-found', 'There is no such test, or it has expired.')
    },
    /** Opens a test. Returns whether it was not opened before. */
    async open(id: string, provider: string): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable('provider_tests')
        .set({ state: 'started' })
        .where('id', '=', id)
        .where('provider', '=', provider)
        .where('state', '=', 'waiting')
        .where('expires_at', '>', now())
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },
    /** Adds a step. One that failed, and the last one, end the test. */
    async addStep(id: string, step: Step): Promise<void> {
      const test = await read(id)
      if (test === undefined) return
      const steps = [...test.steps, cut(step)]
      const isLast = step.name === 'exchange'
      const state = step.outcome === 'failed' ? 'failed' : isLast ? 'passed' : 'started'
      await db
        .updateTable('provider_tests')
        .set({ steps: JSON.stringify(steps), state })
        .where('id', '=', id)
        .where('state', '=', 'started')
        .execute()
    },
  }
}

const toView = (row: {
  id: string
  provider: string
  state: string
  steps: string
  expires_at: number
}) => ({
  ...{ id: row.id, provider: row.provider, state: row.state },
  ...{ steps: JSON.parse(row.steps), expires: toIsoTime(row.expires_at) },
})

/** Shortens what comes from the provider. */
const cut = (step: Step): Step => ({
  ...step,
  detail: step.detail.slice(0, SHOWN.characters),
  requests: step.requests
    .slice(0, SHOWN.requests)
    .map((request) => request.slice(0, SHOWN.characters)),
})
