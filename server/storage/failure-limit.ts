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

/**
 * Counts a failed attempt to be let in, by what it is counted for ({@link failureKey}); the count is
 * in the store, so all nodes share it. Only failures are counted and only they are refused: whoever
 * comes with the right secret from the same address is let in all the same.
 *
 * @throws Failure `too-many-requests`, with `Retry-After`, beyond {@link FAILURES} in a period.
 */
export async function countFailure(store: Store, key: string, now: number): Promise<void> {
  const row = await store.transaction(async (trx) => {
    await trx.deleteFrom('failures').where('expires_at', '<=', now).execute()
    return trx
      .insertInto('failures')
      .values({ key, count: 1, expires_at: now + PERIOD })
      .onConflict((conflict) =>
        conflict.column('key').doUpdateSet((eb) => ({ count: eb('failures.count', '+', 1) })),
      )
      .returning(['count', 'expires_at'])
      .executeTakeFirstOrThrow()
  })
  if (row.count > FAILURES) {
    const seconds = Math.ceil((row.expires_at - now) / 1000)
    throw new Failure(
      'too-many-requests',
      `Too many failed attempts from this address. Try again in ${seconds} s.`,
      { headers: { 'Retry-After': String(seconds) } },
    )
  }
}
