import type { LookupAddress } from 'node:dns'
import dns from 'node:dns/promises'
import { syncBuiltinESMExports } from 'node:module'
import { type Mock, onTestFinished, vi } from 'vitest'

/** Resolves a host name, as for `all: true`. */
type Lookup = (host: string) => Promise<LookupAddress[]>

/** Replaces the resolver until the test ends. The result can be given other implementations. */
export function mockLookup(implementation: Lookup): Mock<Lookup> {
  const lookUp = vi.fn(implementation)
  const spy = vi.spyOn(dns, 'lookup').mockImplementation((async (
    host: string,
    { all = false }: { all?: boolean } = {},
  ) => {
    const addresses = await lookUp(host)
    return all ? addresses : addresses[0]
  }) as unknown as typeof dns.lookup)
  // Updates the imports of the name.
  syncBuiltinESMExports()
  onTestFinished(() => {
    spy.mockRestore()
    syncBuiltinESMExports()
  })
  return lookUp
}
