import { type Address, formatHost, isWildcard } from '../../../server/contract/address.ts'
import { SYSTEM_DATABASE } from '../../../server/contract/database.ts'
import { defaultOf } from '../mapping.ts'
import type { PageLocation } from '../ways-in.ts'

/** A command, and what it does. */
export interface TryCommand {
  readonly label: string
  readonly text: string
}

/** What is to be tried. */
export interface TryTarget {
  readonly address: Address
  readonly mapping: readonly string[]
  /** The database that is asked. */
  readonly database: string
  /** Whether a command that stores something is offered. */
  readonly mayStore: boolean
}

/**
 * Commands that a shell takes as they are, once `TOKEN` is set in it. An address that stands for
 * every one of its machine is asked by the name under which the page was found.
 */
export function tryCommands(target: TryTarget, page: PageLocation): TryCommand[] {
  const { address, mapping, database, mayStore } = target
  const prefix = database === defaultOf(mapping) ? '' : `/_db/${database}`
  const curl = (path: string, ...options: string[]) =>
    ['curl', ...socketOption(address), ...options, quoted(originOf(address, page) + prefix + path)]
      .filter((word) => word !== '')
      .join(' ')
  const token = '-H "Authorization: Bearer $TOKEN"'
  const health = { label: 'Ask whether it is well', text: curl('/_api/health') }
  if (database === SYSTEM_DATABASE) {
    return [health, { label: 'List the endpoints', text: curl('/_api/endpoint', token) }]
  }
  const store = `${token} -H Content-Type:application/json -d '{"title": "Hello"}'`
  return [
    health,
    { label: 'Read the collection articles', text: curl('/articles', token) },
    ...(mayStore ? [{ label: 'Store a document in it', text: curl('/articles', store) }] : []),
  ]
}

const socketOption = (address: Address) =>
  address.scheme === 'unix' ? ['--unix-socket', quoted(address.path)] : []

function originOf(address: Address, page: PageLocation): string {
  if (address.scheme === 'unix') return 'http://localhost'
  const host = isWildcard(address) ? page.hostname.replace(/^\[|\]$/g, '') : address.host
  return `${address.scheme === 'ssl' ? 'https' : 'http'}://${formatHost(host)}:${address.port}`
}

/** A word as a shell takes it: brackets and the like mean something to it. */
const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
