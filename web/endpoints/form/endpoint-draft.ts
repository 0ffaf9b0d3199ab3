import * as z from 'zod/mini'
import { DATABASE_NAME_RULE, isDatabaseName } from '../../../server/contract/database.ts'
import {
  type Address,
  formatAddress,
  formatHost,
  isLoopback,
  parseAddress,
} from '../../../server/contract/endpoints/address.ts'
import { type EndpointRecord, MAPPING_NAMES } from '../../../server/contract/endpoints/endpoint.ts'
import { type AddressDraft, splitAddress } from './split-address.ts'

/** The field of the form that an error belongs to; `form` for the whole form. */
export type Field = 'scheme' | 'host' | 'port' | 'path' | 'certificates' | 'databases' | 'form'

export type FieldErrors = Partial<Record<Field, string>>

/** The content of the form as typed, before validation. */
export interface EndpointDraft extends AddressDraft {
  /** The certificates of an `ssl` endpoint. Empty: the certificate `default`. */
  readonly certificates: readonly string[]
  /** `only` with an empty list is an error; it never turns into `all`. */
  readonly reach: 'all' | 'only'
  readonly names: readonly string[]
  /** Text in the field that adds a name, not yet in the list. */
  readonly typing: string
}

/** The initial form: loopback only, no database chosen. */
export const emptyDraft: EndpointDraft = {
  scheme: 'tcp',
  host: '127.0.0.1',
  port: '',
  path: '',
  certificates: [],
  reach: 'only',
  names: [],
  typing: '',
}

/** Returns the form fields of a mapping. */
export const mappingDraft = (
  mapping: readonly string[],
): Pick<EndpointDraft, 'reach' | 'names' | 'typing'> => ({
  reach: mapping.length === 0 ? 'all' : 'only',
  names: mapping,
  typing: '',
})

/**
 * Returns a draft copied from another endpoint: its scheme, host and mapping, and the next unused
 * port. The path of a unix socket is copied for the user to change.
 */
export function duplicateEndpoint(like: EndpointRecord, taken: readonly string[]): EndpointDraft {
  const parsed = parseAddress(like.endpoint)
  if (!parsed.ok) return { ...emptyDraft, ...mappingDraft(like.databases) }
  const { address } = parsed
  const begin = { ...emptyDraft, ...mappingDraft(like.databases), scheme: address.scheme }
  if (address.scheme === 'unix') return { ...begin, path: address.path }
  return { ...begin, host: formatHost(address.host), port: nextPort(address, taken) }
}

const LAST_PORT = 65_535

/** Returns the first port above that of `address` that no endpoint uses on any host, or ''. */
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

/** Returns whether traffic could be read in transit: plain tcp on a non-loopback address. */
export const isOpenToReaders = (draft: EndpointDraft): boolean =>
  withAddressSplit(draft).scheme === 'tcp' && isReachedByOthers(draft)

/** Returns whether other machines may be able to connect: a non-loopback address. */
export function isReachedByOthers(typed: EndpointDraft): boolean {
  const draft = withAddressSplit(typed)
  if (draft.scheme === 'unix' || draft.host.trim() === '') return false
  // Any port will do; it may not be typed yet.
  const parsed = parseAddress(draftAddress({ ...draft, port: '1' }))
  return parsed.ok && !isLoopback(parsed.address)
}

/** Returns the draft with a whole address typed as its host split into the address fields. */
export const withAddressSplit = (draft: EndpointDraft): EndpointDraft =>
  draft.scheme === 'unix' ? draft : { ...draft, ...splitAddress(draft.host) }

/** Returns the address that the draft spells, valid or not. */
export function draftAddress(draft: EndpointDraft): string {
  const { scheme, host, port, path } = withAddressSplit(draft)
  return scheme === 'unix' ? `unix://${path.trim()}` : `${scheme}://${host}:${port.trim()}`
}

/** Returns the mapping of the draft. Validate it with {@link mappingErrors} first. */
export const draftMapping = ({ reach, names }: EndpointDraft): string[] =>
  reach === 'all' ? [] : [...names]

/** Validates the address. `taken` lists the addresses of the configured endpoints. */
export function addressErrors(typed: EndpointDraft, taken: readonly string[]): FieldErrors {
  const draft = withAddressSplit(typed)
  const parsed = parseAddress(draftAddress(draft))
  if (!parsed.ok) {
    if (draft.scheme !== 'unix' && draft.port.trim() === '') return { port: PORT_MISSING }
    return { [parsed.part]: parsed.message }
  }
  const address = formatAddress(parsed.address)
  if (!taken.includes(address)) return {}
  return {
    [draft.scheme === 'unix' ? 'path' : 'port']:
      `The endpoint ${address} already exists. Choose another, or edit its mapping.`,
  }
}

const PORT_MISSING = 'Enter a port from 1 to 65535.'

/** Validates the mapping. */
export function mappingErrors({
  reach,
  names,
  typing,
}: Pick<EndpointDraft, 'reach' | 'names' | 'typing'>): FieldErrors {
  if (reach === 'all') return {}
  const more = typing.trim()
  if (more !== '')
    return { databases: `${more} is not in the list yet. Add it, or clear the field.` }
  if (names.length > 0) return {}
  return { databases: 'Choose at least one database.' }
}

/** Groups of fields that are validated together: a change of one clears the errors of all. */
export const endpointFieldGroups = [
  // Whether a port is taken depends on the host.
  ['scheme', 'host', 'port', 'path'],
  ['scheme', 'certificates'],
  ['reach', 'names', 'typing', 'databases'],
] as const

/** Returns the schema of a form, as the errors that `validate` finds in its fields. */
const draftSchema = <T>(validate: (draft: T) => FieldErrors) =>
  z.custom<T>().check(
    z.superRefine((draft, issues) => {
      for (const [field, message] of Object.entries(validate(draft))) {
        issues.addIssue({ code: 'custom', path: [field], message })
      }
    }),
  )

/**
 * Returns the schema of a new endpoint.
 *
 * @param taken the addresses of the configured endpoints.
 * @param hasDefault whether an `ssl` endpoint has a certificate without a choice; default true.
 */
export const endpointSchema = (taken: readonly string[], hasDefault = true) =>
  draftSchema<EndpointDraft>((draft) => ({
    ...addressErrors(draft, taken),
    ...(draft.scheme === 'ssl' &&
      draft.certificates.length === 0 &&
      !hasDefault && { certificates: 'Choose a certificate, or add one.' }),
    ...mappingErrors(draft),
  }))

/** The schema of a changed mapping. */
export const mappingSchema = draftSchema(mappingErrors)

/** Validates a name to be added to a mapping; returns undefined if it is valid. */
export function nameError(name: string, names: readonly string[]): string | undefined {
  if (name === '') return 'Type the name of a database first.'
  if (!isDatabaseName(name)) return DATABASE_NAME_RULE
  if (names.length >= MAPPING_NAMES) return 'A mapping names at most 1,000 databases.'
  return names.includes(name) ? `${name} is already in the list.` : undefined
}

/**
 * Returns the normalized address of the draft, as the server stores it, or the typed address if it
 * is invalid.
 */
export function canonicalAddress(draft: EndpointDraft): string {
  const parsed = parseAddress(draftAddress(draft))
  return parsed.ok ? formatAddress(parsed.address) : draftAddress(draft)
}
