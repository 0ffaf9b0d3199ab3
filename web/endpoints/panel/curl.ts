import { SYSTEM_DATABASE } from '../../../server/contract/database.ts'
import {
  type Address,
  formatHost,
  isLoopbackHost,
} from '../../../server/contract/endpoints/address.ts'
import { shellQuote } from '../../ui/text/shell-quote.ts'
import { type PageLocation, pageHost, reachableHost } from '../model/admin-access.ts'
import { defaultOf } from '../model/mapping.ts'

/** A shell command with its description. */
export interface TryCommand {
  readonly label: string
  readonly text: string
  /** The role that its token needs; undefined if it needs no token. */
  readonly role?: 'viewer' | 'editor'
}

export interface TryTarget {
  readonly address: Address
  readonly mapping: readonly string[]
  /** The database of the requests. */
  readonly database: string
  /** A collection of the database; undefined if it has none. */
  readonly collection: string | undefined
  /** Whether to include a command that inserts a document. */
  readonly mayStore: boolean
  /** Whether the endpoint's policy lets clients read the collection without a token. */
  readonly isPublic: boolean
}

/**
 * Returns commands that run in a shell where `TOKEN` is set. A wildcard address is replaced by the
 * host of the page, if it serves that, and otherwise by a placeholder.
 */
export function tryCommands(target: TryTarget, page: PageLocation): TryCommand[] {
  const { address, mapping, database, collection, mayStore, isPublic } = target
  const prefix = database === defaultOf(mapping) ? '' : `/_db/${database}`
  const curl = (path: string, ...options: string[]) =>
    [
      'curl',
      ...socketOption(address),
      ...options,
      shellQuote(originOf(address, page) + prefix + path),
    ]
      .filter((word) => word !== '')
      .join(' ')
  const token = '-H "Authorization: Bearer $TOKEN"'
  const health = { label: 'Check health', text: curl('/_api/health') }
  if (database === SYSTEM_DATABASE) {
    const text = curl('/_api/endpoint', token)
    return [health, { label: 'List the endpoints', text, role: 'viewer' }]
  }
  const store = `${token} -H Content-Type:application/json -d '{"title": "Hello"}'`
  const path = `/${collection ?? NEW_COLLECTION}`
  const label = `Read the collection ${collection}`
  const read: TryCommand = isPublic
    ? { label: `${label}, without a token`, text: curl(path) }
    : { label, text: curl(path, token), role: 'viewer' }
  const insert = {
    label:
      collection === undefined
        ? `Insert a document, which creates the collection ${NEW_COLLECTION}`
        : `Insert a document into ${collection}`,
    text: curl(path, store),
    role: 'editor',
  } as const
  return [health, ...(collection === undefined ? [] : [read]), ...(mayStore ? [insert] : [])]
}

/** The collection that the example creates in a database without collections. */
const NEW_COLLECTION = 'articles'

const socketOption = (address: Address) =>
  address.scheme === 'unix' ? ['--unix-socket', shellQuote(address.path)] : []

function originOf(address: Address, page: PageLocation): string {
  if (address.scheme === 'unix') return 'http://localhost'
  const host = reachableHost(address, page)
  const shown = host === undefined ? substituteHost(address.host, page) : formatHost(host)
  return `${address.scheme === 'ssl' ? 'https' : 'http'}://${shown}:${address.port}`
}

/** Returns the host of a wildcard whose family is not that of the page's host. */
function substituteHost(wildcard: string, page: PageLocation): string {
  const isLocal = isLoopbackHost(pageHost(page))
  if (wildcard === '::') return isLocal ? '[::1]' : '[<IPv6 address>]'
  return isLocal ? '127.0.0.1' : '<IPv4 address>'
}
