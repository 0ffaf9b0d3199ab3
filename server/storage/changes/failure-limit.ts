import { sql } from 'kysely'
import { networkOf } from '../../ip-ranges.ts'
import { createRateLimit, tooManyRequests } from '../../rate-limit.ts'
import type { Store } from '../store.ts'

/** Number of failed attempts that are allowed per key in one period. */
export const FAILURES = 20

/** Length of a period, ms (5 min). */
export const PERIOD = 5 * 60 * 1000

/**
 * Returns the key under which failed attempts from the network of an address are counted.
 *
 * @param kind the kind of the attempt, such as `token`.
 */
export function failureKey(kind: string, address: string | null): string {
  return `${kind}/${address === null ? 'unix' : networkOf(address)}`
}

/** Delay before failures are stored in a batch, ms. Other nodes do not see them earlier. */
const STORE_AFTER = 1_000

/** Maximum number of keys stored in a batch. The rest follow in the next batch. */
export const STORE_BATCH = 500

/** Maximum number of expired rows deleted at a time. */
const DELETE_BATCH = 2 * STORE_BATCH

/** Rate limit for failed attempts to authenticate. */
export interface FailureLimit {
  /**
   * Counts a failed attempt for a key from {@link failureKey}. Only failed attempts are limited: a
   * valid secret from the same address is still accepted.
   *
   * @throws Failure `too-many-requests` with `Retry-After`, beyond {@link FAILURES} in a period.
   */
  count(key: string): void
  /** Stores the failures counted since the last call, and reads those counted by other nodes. */
  store(): Promise<void>
  /** Stores the remaining failures and stops. */
  stop(): Promise<void>
}

/**
 * Creates the failure limit of a node. Failures are counted in memory and stored in batches, once a
 * second, so that a flood of failures does not cause one transaction each. Once a key exceeds the
 * limit, further failures are not stored until its period ends.
 */
export function createFailureLimit(
  { db }: Pick<Store, 'db'>,
  now: () => number,
  onError: (error: unknown) => void,
): FailureLimit {
  /** Failures by key that are not stored yet. */
  const pending = new Map<string, number>()
  const limit = createRateLimit({
    max: FAILURES,
    period: PERIOD,
    onEvict: (key) => pending.delete(key),
    now,
  })
  let timer: NodeJS.Timeout | undefined
  let storing: Promise<void> | undefined
  let stopped = false

  function wake(): void {
    if (stopped || timer !== undefined || pending.size === 0) return
    timer = setTimeout(() => {
      timer = undefined
      void store().catch(onError).finally(wake)
    }, STORE_AFTER)
    timer.unref()
  }

  async function store(): Promise<void> {
    // A batch in progress lacks the failures counted since it began.
    await storing?.catch(() => {})
    storing ??= write().finally(() => {
      storing = undefined
    })
    return storing
  }

  async function write(): Promise<void> {
    const at = now()
    for (const key of pending.keys()) if (limit.get(key) === undefined) pending.delete(key)
    // All nodes lock the rows in the same order, which prevents deadlocks.
    const keys = [...pending.keys()].slice(0, STORE_BATCH).sort()
    const rows = keys.flatMap((key) => {
      const count = pending.get(key)
      const ends = limit.get(key)?.ends
      return count === undefined || ends === undefined ? [] : [{ key, count, expires_at: ends }]
    })
    if (rows.length === 0) return
    const stored = await db
      .insertInto('failures')
      .values(rows)
      .onConflict((conflict) => conflict.column('key').doUpdateSet(addUp(at)))
      .returning(['key', 'count', 'expires_at'])
      .execute()
    const written = new Map(rows.map(({ key, count }) => [key, count]))
    for (const { key, count, expires_at } of stored) {
      if (limit.get(key) === undefined) continue
      const left = Math.max(0, (pending.get(key) ?? 0) - (written.get(key) ?? 0))
      if (left === 0) pending.delete(key)
      else pending.set(key, left)
      // The stored count includes failures that other nodes counted.
      limit.set(key, { count: count + left, ends: expires_at })
    }
    const expired = db
      .selectFrom('failures')
      .select('key')
      .where('expires_at', '<=', at)
      .limit(DELETE_BATCH)
    await db.deleteFrom('failures').where('key', 'in', expired).execute()
  }

  return {
    count(key) {
      const wait = limit.consume(key)
      if (wait > 0) throw tooManyRequests('Too many failed attempts from this address', wait)
      pending.set(key, (pending.get(key) ?? 0) + 1)
      wake()
    },
    store,
    async stop() {
      stopped = true
      clearTimeout(timer)
      await store().catch(onError)
    },
  }
}

/**
 * Adds new failures to the stored ones, or starts a new period if the stored one has ended or is
 * from before the clock was set back.
 */
function addUp(at: number) {
  const isCurrent = sql`failures.expires_at > ${at} and failures.expires_at <= ${at + 2 * PERIOD}`
  return {
    count: sql<number>`case when ${isCurrent} then failures.count else 0 end + excluded.count`,
    expires_at: sql<number>`case when ${isCurrent} then failures.expires_at
      else excluded.expires_at end`,
  }
}
