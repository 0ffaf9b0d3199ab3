import { describe, expect, it } from 'vitest'
import { createSignInLimit, type SignInLimit, UNFINISHED_SIGN_INS } from './sign-in-limit.ts'

const begun = (limit: SignInLimit, address: string | null, step: 'start' | 'key' = 'start') => {
  try {
    limit.begin(step, address)
    return 'begun'
  } catch (error) {
    return (error as Error).message
  }
}
const fill = (limit: SignInLimit, address: string | null) => {
  for (let n = 0; n < UNFINISHED_SIGN_INS; n++) expect(begun(limit, address)).toBe('begun')
}

describe('started sign-ins', () => {
  it('are rejected beyond the limit of an address, with Retry-After', () => {
    let time = 1_000
    const limit = createSignInLimit(() => time)
    fill(limit, '10.0.0.1')
    time += 59_001
    expect(() => limit.begin('start', '10.0.0.1')).toThrow(
      expect.objectContaining({ code: 'too-many-requests', headers: { 'Retry-After': '1' } }),
    )
    expect(begun(limit, '10.0.0.2')).toBe('begun')
    expect(begun(limit, '10.0.0.1', 'key')).toBe('begun')
    time += 999
    expect(begun(limit, '10.0.0.1')).toBe('begun')
  })

  it('do not count once they are finished', () => {
    const limit = createSignInLimit(() => 0)
    for (let n = 0; n < 3 * UNFINISHED_SIGN_INS; n++) {
      expect(begun(limit, null)).toBe('begun')
      limit.finish('start', null)
    }
    // `finish` without `begin` must not raise the limit.
    limit.finish('start', '10.0.0.1')
    fill(limit, '10.0.0.1')
    expect(begun(limit, '10.0.0.1')).toMatch('Too many sign-ins')
  })

  it('count together for the addresses of an IPv6 network', () => {
    const limit = createSignInLimit(() => 0)
    fill(limit, '2001:db8::1')
    expect(begun(limit, '2001:db8::ffff:2')).toMatch('Too many sign-ins')
    expect(begun(limit, '2001:db8:0:1::1')).toBe('begun')
  })
})
