import { expect, it, vi } from 'vitest'
import { LEASE, renewalTimer } from './lease.ts'

it('renews a lease several times before it expires, until it is stopped', () => {
  vi.useFakeTimers()
  try {
    const renew = vi.fn()
    const stop = renewalTimer(renew)
    vi.advanceTimersByTime(LEASE)
    expect(renew).toHaveBeenCalledTimes(3)
    stop()
    vi.advanceTimersByTime(LEASE)
    expect(renew).toHaveBeenCalledTimes(3)
  } finally {
    vi.useRealTimers()
  }
})
