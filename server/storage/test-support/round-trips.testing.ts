import { expect } from 'vitest'
import type { TcpProxy } from './tcp-proxy.testing.ts'

/**
 * Expects a number of round trips through a proxy. Repeats work that overlaps with other queries of
 * the node, such as the health checks of a slow machine, which add round trips.
 */
export const expectRoundTrips = (
  proxy: TcpProxy,
  count: number,
  work: () => Promise<unknown>,
): Promise<void> =>
  expect
    .poll(async () => {
      const before = proxy.roundTrips
      await work()
      return proxy.roundTrips - before
    })
    .toBe(count)
