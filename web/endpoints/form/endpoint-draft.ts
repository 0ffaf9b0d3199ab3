import {
  type Address,
  formatAddress,
  formatHost,
  isLoopback,
  parseAddress,
} from '../../server/contract/address.ts'
import { DATABASE_NAME_RULE, isDatabaseName } from '../../server/contract/database.ts'
import { type EndpointRecord, MAPPING_NAMES } from '../../server/contract/endpoint.ts'

/** A part of the form that a fault can stand at; `form` where it belongs to none. */
export type Field = 'scheme' | 'host' | 'port' | 'path' | 'databases' | 'form'

/** What is wrong, by field. */
export type Faults = Partial<Record<Field, string>>

/** What stands in the form: text as it was typed, nothing judged. */
export interface EndpointDraft {
  readonly scheme: 'tcp' | 'ssl' | 'unix'
  /** As written in an address, IPv6 in brackets. */
  readonly host: string
  readonly port: string
  readonly path: string
  /** Every database, or only those named: an empty list of names never becomes *all* by itself. */
  readonly reach: 'all' | 'only'
  readonly names: readonly string[]
  /** What stands in the field for one more name, not in the list yet. */
  readonly typing: string
}

/** What the form begins with: this machine only, every database. */
export const emptyDraft: EndpointDraft = {
  scheme: 'tcp',
  host: '127.0.0.1',
  port: '',
  path: '',
  reach: 'all',
  names: [],
  typing: '',
}

/** How a mapping stands in the form. */
export const mappingDraft = (
  mapping: readonly string[],
): Pick<EndpointDraft, 'reach' | 'names' | 'typing'> => ({
  reach: mapping.length === 0 ? 'all' : 'only',
  names: mapping,
  typing: '',
})

/**
 * What the form begins with for an endpoint like another: its scheme, host and mapping, and the next
 * port that is no endpoint's yet. The path of a unix socket is given as it is, to be changed.
 */
export function draftLike(like: EndpointRecord, taken: readonly string[]): EndpointDraft {
  const parsed = parseAddress(like.endpoint)
  if (!parsed.ok) return { ...emptyDraft, ...mappingDraft(like.databases) }
  const { address } = parsed
  const begin = { ...emptyDraft, ...mappingDraft(like.databases), scheme: address.scheme }
  if (address.scheme === 'unix') return { ...begin, path: address.path }
  return { ...begin, host: formatHost(address.host), port: nextPort(address, taken) }
}

const LAST_PORT = 65_535

/** The first port above that of `address` which no endpoint has on any host; '' for none. */
function nextPort(address: Extract<Address, { port: number }>, taken: readonly string[]): string {
  const ports = new Set(
    taken.map((text) => {
      const parsed = parseAddress(text)
      return parsed.ok && parsed.address.scheme !== 'unix' ? parsed.address.port : undefined
    }),
  )
  let port = address.port + 1
  while (ports.has(port)) port += 1
  return port > LAST_PORT ? '' : String(port)
}

/** Whether what is sent could be read on its way: plain tcp that another machine can reach. */
export function isOpenToReaders(draft: EndpointDraft): boolean {
  if (draft.scheme !== 'tcp' || draft.host.trim() === '') return false
  // Whichever port: it may not be typed yet.
  const parsed = parseAddress(draftAddress({ ...draft, port: '1' }))
  return parsed.ok && !isLoopback(parsed.address)
}

/** The address that the draft spells, not necessarily a good one. */
export const draftAddress = ({ scheme, host, port, path }: EndpointDraft): string =>
  scheme === 'unix' ? `unix://${path.trim()}` : `${scheme}://${host.trim()}:${port.trim()}`

/** The mapping that the draft spells; judge with {@link mappingFaults} first. */
export const draftMapping = ({ reach, names }: EndpointDraft): string[] =>
  reach === 'all' ? [] : [...names]

/** What is wrong with the address; `taken` are the addresses that are endpoints already. */
export function addressFaults(draft: EndpointDraft, taken: readonly string[]): Faults {
  const parsed = parseAddress(draftAddress(draft))
  if (!parsed.ok) {
    if (draft.scheme !== 'unix' && draft.port.trim() === '') return { port: PORT_MISSING }
    return { [parsed.part]: parsed.fault }
  }
  const address = formatAddress(parsed.address)
  if (!taken.includes(address)) return {}
  return {
    [draft.scheme === 'unix' ? 'path' : 'port']:
      `${address} is an endpoint already. Choose another, or edit its mapping.`,
  }
}

const PORT_MISSING = 'The port is missing. Choose one from 1 to 65535.'

/** What is wrong with the choice of databases. */
export function mappingFaults({ reach, names, typing }: EndpointDraft): Faults {
  if (reach === 'all') return {}
  const more = typing.trim()
  if (more !== '')
    return { databases: `${more} is not in the list yet. Add it, or clear the field.` }
  if (names.length > 0) return {}
  return { databases: 'No database is chosen. Add one, or choose All databases.' }
}

/** What is wrong with a name to be added to a mapping; `undefined` when nothing is. */
export function nameFault(name: string, names: readonly string[]): string | undefined {
  if (name === '') return 'Type the name of a database first.'
  if (!isDatabaseName(name)) return DATABASE_NAME_RULE
  if (names.length >= MAPPING_NAMES) return 'A mapping names at most 1,000 databases.'
  return names.includes(name) ? `${name} is in the list already.` : undefined
}

/** The address that the draft spells, in the form that the server keeps it in, if it is one. */
export function canonicalAddress(draft: EndpointDraft): string {
  const parsed = parseAddress(draftAddress(draft))
  return parsed.ok ? formatAddress(parsed.address) : draftAddress(draft)
}
