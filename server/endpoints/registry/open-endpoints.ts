import type { Actor } from '../../contract/audit/audit.ts'
import { Failure } from '../../failure.ts'
import { StoreUnavailable } from '../../storage/availability/unavailable.ts'
import { readAddress } from '../address.ts'
import type { EndpointRegistry } from './registry.ts'

export interface ConfiguredEndpoints {
  /** Addresses from the configuration. */
  readonly addresses: readonly string[]
  /** The endpoint of a new store if none is configured. */
  readonly defaultAddress: string
  /** The actor that the audit log names. */
  readonly actor: Actor
}

/**
 * Opens the stored endpoints, and adds configured endpoints that are missing.
 *
 * @throws Failure `conflict` if no endpoint can be opened at the first start.
 */
export async function openEndpoints(
  endpoints: EndpointRegistry,
  { addresses, defaultAddress, actor }: ConfiguredEndpoints,
): Promise<void> {
  await endpoints.restore()
  const first = endpoints.size === 0
  const given = first && addresses.length === 0 ? [defaultAddress] : addresses
  const listens = () => endpoints.listeners().some(({ state }) => state === 'listening')
  const failures: string[] = []
  // At the first start, an address that cannot be opened is stored only if another one can be.
  // Otherwise the next start would open a mistyped address from the store.
  const late: (() => Promise<void>)[] = []
  for (const text of given) {
    const address = readAddress(text, { anyPort: true })
    try {
      await endpoints.ensure(address, actor, first)
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error
      failures.push(`${text}: ${(error as Error).message}`)
      late.push(() => endpoints.ensure(address, actor, false))
    }
  }
  if (first && !listens()) {
    throw new Failure('conflict', `Cannot open any endpoint. ${failures.join(' ')}`)
  }
  for (const again of late) await again()
}
