import { sql } from 'kysely'
import { Failure } from '../../failure.ts'
import type { Store } from '../open.ts'

/** Number of failed attempts that are allowed per key in one period. */
export const FAILURES = 20

/** Length of a period, ms (5 min). */
export const PERIOD = 5 * 60 * 1000

/**
 * Returns the key under which failed attempts from an address are counted. IPv6 addresses are
 * reduced to their /64 prefix, because a client can choose the other 64 bits freely (RFC 4291
 * §2.5.4).
 *
 * @param kind what was attempted, such as `token`.
 */
export function failureKey(kind: string, address: string | null): string {
  if (address === null) return `${kind}/unix`
  return `${kind}/${address.includes(':') ? networkPrefix(address) : address}`
}

function networkPrefix(address: string): string {
  const [head = '', tail] = address.toLowerCase().split('::')
  const groups = (text = '') => text.split(':').filter((group) => group !== '')
  const [before, after] = [groups(head), groups(tail)]
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length
  const all = [...before, ...Array<string>(Math.max(0, zeros)).fill('0'), ...after]
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}

/** Delay before failures are stored in a batch, ms. Other nodes do not see them earlier. */
const STORE_AFTER = 1_000

/** Maximum number of keys stored in a batch. The rest follow in the next batch. */
export const STORED_AT_ONCE = 500

/**
 * Maximum number of keys counted in memory. Beyond it, the key whose period ends first is dropped.
 */
export const MAX_KEYS = 10_000

/** Maximum number of expired rows deleted at a time. */
const DELETED_AT_ONCE = 2 * STORED_AT_ONCE

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

/** Failures of one key in the current period. */
interface Failures {
  /** Number in the database at the last write, including failures counted by other nodes. */
  stored: number
  /** Number not stored yet. */
  pending: number
  /** End of the period, ms since 1970. */
  expires: number
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
  const counted = new Map<string, Failures>()
  const pending = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let storing: Promise<void> | undefined
  let stopped = false

  function failuresOf(key: string): Failures {
    const known = counted.get(key)
    if (known !== undefined && known.expires > now()) return known
    // Re-insert to keep the map ordered by end of period.
    forget(key)
    const [first] = counted.keys()
    if (counted.size >= MAX_KEYS && first !== undefined) forget(first)
    const failures = { stored: 0, pending: 0, expires: now() + PERIOD }
    counted.set(key, failures)
    return failures
  }

  function forget(key: string): void {
    counted.delete(key)
    pending.delete(key)
  }

  function wake(): void {
    if (stopped || timer !== undefined || pending.size === 0) return
    timer = setTimeout(() => {
      timer = undefined
      void storeSome().catch(onError).finally(wake)
    }, STORE_AFTER)
    timer.unref()
  }

  function storeSome(): Promise<void> {
    storing ??= write().finally(() => {
      storing = undefined
    })
    return storing
  }

  async function write(): Promise<void> {
    const at = now()
    for (const [key, { expires }] of counted) {
      if (expires <= at) forget(key)
    }
    // All nodes lock the rows in the same order, which prevents deadlocks.
    const keys = [...pending].slice(0, STORED_AT_ONCE).sort()
    const rows = keys.flatMap((key) => {
      const failures = counted.get(key)
      return failures ? [{ key, count: failures.pending, expires_at: failures.expires }] : []
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
      const failures = counted.get(key)
      if (failures === undefined) continue
      failures.stored = count
      failures.pending -= written.get(key) ?? 0
      failures.expires = expires_at
      if (failures.pending === 0) pending.delete(key)
    }
    const expired = db
      .selectFrom('failures')
      .select('key')
      .where('expires_at', '<=', at)
      .limit(DELETED_AT_ONCE)
    await db.deleteFrom('failures').where('key', 'in', expired).execute()
  }

  return {
    count(key) {
      const failures = failuresOf(key)
      if (failures.stored + failures.pending >= FAILURES) {
        const seconds = Math.ceil((failures.expires - now()) / 1000)
        throw new Failure(
          'too-many-requests',
          `Too many failed attempts from this address. Try again in ${seconds} s.`,
          { headers: { 'Retry-After': String(seconds) } },
        )
      }
      failures.pending++
      pending.add(key)
      wake()
    },
    store: storeSome,
    async stop() {
      stopped = true
      clearTimeout(timer)
      await storeSome().catch(onError)
    },
  }
}

/** Adds new failures to the stored ones, or starts a new period if the stored one has ended. */
const addUp = (at: number) => ({
  count: sql<number>`case when failures.expires_at <= ${at} then 0 else failures.count end
    + excluded.count`,
  expires_at: sql<number>`case when failures.expires_at <= ${at} then excluded.expires_at
    else failures.expires_at end`,
})
