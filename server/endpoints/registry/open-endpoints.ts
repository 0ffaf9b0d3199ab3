import type { Logger } from 'pino'
import type { Actor } from '../../contract/audit.ts'
import { Failure } from '../../failure.ts'
import { StoreUnavailable } from '../../storage/availability/unavailable.ts'
import type { Store } from '../../storage/store.ts'
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

export interface OpenEndpointsDeps {
  readonly endpoints: EndpointRegistry
  readonly store: Store
  /** The name of this node. */
  readonly node: string
  readonly log: Pick<Logger, 'info'>
}

/**
 * Opens the stored endpoints, and adds configured endpoints that are missing. An endpoint that was
 * removed after an earlier start had added the same configured addresses is not added again.
 *
 * @throws Failure `conflict` if no endpoint can be opened at the first start.
 */
export async function openEndpoints(
  { endpoints, store, node, log }: OpenEndpointsDeps,
  { addresses, defaultAddress, actor }: ConfiguredEndpoints,
): Promise<void> {
  await endpoints.restore()
  const first = endpoints.size === 0
  const given = first && addresses.length === 0 ? [defaultAddress] : addresses
  const configured = JSON.stringify([...addresses].sort())
  const stored = new Set(endpoints.list().map(({ endpoint }) => endpoint))
  const isAdded = !first && (await wasConfigured(store, configured))
  // Port 0 is another port at each start.
  const isRemoved = (text: string) => isAdded && !stored.has(text) && !text.endsWith(':0')
  const removed = given.filter(isRemoved)
  if (removed.length > 0) {
    log.info(
      { endpoints: removed },
      'configured endpoints that were removed stay removed: add them in the console or with "gatehouse endpoint add"',
    )
  }
  const listens = () => endpoints.listeners().some(({ state }) => state === 'listening')
  const failures: string[] = []
  // At the first start, an address that cannot be opened is stored only if another one can be.
  // Otherwise the next start would open a mistyped address from the store.
  const late: (() => Promise<void>)[] = []
  for (const text of given) {
    if (removed.includes(text)) continue
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
  await rememberConfigured(store, node, configured)
}

/**
 * Prefix of the settings that hold the addresses in the configuration of each node at its last
 * start, as a sorted JSON array. The name of the node follows, except on SQLite.
 */
const PREFIX = 'configured-endpoints:'

/** Whether a node has been started with these addresses, and not with others since. */
async function wasConfigured({ db }: Store, configured: string): Promise<boolean> {
  const row = await db
    .selectFrom('settings')
    .select('name')
    .where('name', 'like', `${PREFIX}%`)
    .where('value', '=', configured)
    .executeTakeFirst()
  return row !== undefined
}

async function rememberConfigured(
  { db, engine }: Store,
  node: string,
  configured: string,
): Promise<void> {
  const name = engine === 'sqlite' ? PREFIX : PREFIX + node
  await db
    .insertInto('settings')
    .values({ name, value: configured })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet((eb) => ({ value: eb.ref('excluded.value') })),
    )
    .execute()
  // One row is enough for each set, and names of nodes such as those of containers may be used once.
  await db
    .deleteFrom('settings')
    .where('name', 'like', `${PREFIX}%`)
    .where('value', '=', configured)
    .where('name', '!=', name)
    .execute()
}
