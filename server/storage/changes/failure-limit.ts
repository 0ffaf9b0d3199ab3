import { sql } from 'kysely'
import { Failure } from '../failure.ts'
import type { Store } from './open.ts'

/** Within one period this many failures are let pass. */
export const FAILURES = 20

/** The length of a period, ms: 5 min. */
export const PERIOD = 5 * 60 * 1000

/**
 * What failures of somebody at an address are counted for. Of IPv6 the first 64 bits count: the rest
 * is its holder's to choose (RFC 4291 §2.5.4), and would make each guess a first one.
 *
 * @param kind what was attempted, such as `token`.
 */
export function failureKey(kind: string, address: string | null): string {
  if (address === null) return `${kind}/unix`
  return `${kind}/${address.includes(':') ? firstHalf(address) : address}`
}

function firstHalf(address: string): string {
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

/** Failures are stored together after this time, ms. Until then, other nodes do not know of them. */
const STORE_AFTER = 1_000

/** The most keys that are stored together; the others have their turn the next time. */
export const STORED_AT_ONCE = 500

/** The most keys that are counted in memory; beyond it, the one whose period ends first is dropped. */
export const MOST_KEYS = 10_000

/** The most expired rows that are deleted together. */
const DELETED_AT_ONCE = 2 * STORED_AT_ONCE

/** Limits failed attempts to be let in. */
export interface FailureLimit {
  /**
   * Counts a failed attempt, by what it is counted for ({@link failureKey}). Only failures are counted
   * and only failures are rejected: a right secret from the same address is accepted all the same.
   *
   * @throws Failure `too-many-requests`, with `Retry-After`, beyond {@link FAILURES} in a period.
   */
  count(key: string): void
  /** Stores what was counted since the last call, and reads what other nodes have counted. */
  store(): Promise<void>
  /** Stores the rest and ends. */
  stop(): Promise<void>
}

/** The failures of one key in the running period. */
interface Failures {
  /** As the store had them the last time, those of other nodes included. */
  stored: number
  /** Not stored yet. */
  pending: number
  /** The end of the period, ms since 1970. */
  expires: number
}

/**
 * Makes the {@link FailureLimit} of a node. Failures are counted in memory and stored once a second,
 * many together, so that a flood of them costs no transaction each. A key beyond the limit costs
 * nothing in the store until its period ends.
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
    // In the order of their ends: a new period is the last one.
    forget(key)
    const [first] = counted.keys()
    if (counted.size >= MOST_KEYS && first !== undefined) forget(first)
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
    // In one order on all nodes, or two of them could wait for each other.
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

/** Adds failures to those that are stored, unless their period has ended. */
const addUp = (at: number) => ({
  count: sql<number>`case when failures.expires_at <= ${at} then 0 else failures.count end
    + excluded.count`,
  expires_at: sql<number>`case when failures.expires_at <= ${at} then excluded.expires_at
    else failures.expires_at end`,
})
