import type { FormErrors } from '@mantine/form'
import * as z from 'zod/mini'
import type { Policy, PolicyInput } from '../../server/contract/endpoints/policy.ts'
import { toFormErrors } from '../shared/forms/to-form-errors.ts'
import type { PolicySection } from './policy-sections.ts'

/** Durations after which an endpoint is removed, as `closesIn` of the API takes them. */
export const CLOSES_IN = ['1h', '8h', '2d', '7d'] as const

/** The policy form as typed, before validation. */
export interface PolicyDraft {
  readonly note: string
  readonly closes: 'never' | 'at' | (typeof CLOSES_IN)[number]
  /** A local time, as `2027-01-31T18:00`, if `closes` is `at`. */
  readonly closesAt: string
  readonly clients: 'all' | 'only'
  /** Addresses and ranges, one per line. */
  readonly allow: string
  readonly deny: string
  readonly documents: 'write' | 'read'
  readonly anonymous: 'none' | 'all' | 'some'
  readonly collections: string
  readonly administration: 'on' | 'off'
  readonly pages: 'none' | 'all' | 'some'
  readonly origins: string
  readonly maxAge: string
  readonly rate: string
  readonly burst: string
  readonly by: 'client' | 'token' | 'endpoint'
  readonly connections: string
  readonly bodySize: string
  /** The certificates of an `ssl` endpoint, in order. Empty: the certificate `default`. */
  readonly certificates: readonly string[]
  readonly minVersion: '1.2' | '1.3'
  readonly clientAuth: 'none' | 'request' | 'require'
  /** PEM. */
  readonly ca: string
  readonly tokens: readonly TokenRow[]
}

/** A name in client certificates, and the id of the token that they stand for; '' if not chosen. */
export interface TokenRow {
  readonly san: string
  readonly token: string
}

/**
 * A change of a policy: a client to block, to allow too or to allow alone; or a certificate to add.
 * If the policy names no certificate, the added one replaces the default.
 */
export interface PolicyChange {
  readonly deny?: string
  readonly allow?: string
  readonly alsoAllow?: string
  readonly certificate?: string
}

/** Returns a policy with a change. */
export function withChange(policy: Policy | null, change: PolicyChange): Policy | null {
  const { deny, allow, alsoAllow, certificate } = change
  if (certificate !== undefined) {
    const certificates = new Set([...(policy?.tls?.certificates ?? []), certificate])
    return { ...policy, tls: { ...policy?.tls, certificates: [...certificates] } }
  }
  const denied = policy?.deny ?? []
  if (deny !== undefined) return { ...policy, deny: [...new Set([...denied, deny])] }
  if (alsoAllow !== undefined) {
    // Without a list, every client is allowed that is not blocked.
    const allowed = policy?.allow && [...new Set([...policy.allow, alsoAllow])]
    return {
      ...policy,
      ...(allowed && { allow: allowed }),
      deny: denied.filter((each) => each !== alsoAllow),
    }
  }
  if (allow === undefined) return policy
  return { ...policy, allow: [allow], deny: denied.filter((each) => each !== allow) }
}

/** Returns the form fields of a policy; null for the defaults. */
export function toPolicyDraft(policy: Policy | null): PolicyDraft {
  const { closesAt, allow, deny, anonymous = 'none', cors, rateLimit, tls, ...rules } = policy ?? {}
  const read = anonymous === 'none' ? undefined : anonymous.read
  const isAnyOrigin = cors?.origins[0] === '*'
  return {
    note: rules.note ?? '',
    closes: closesAt === undefined ? 'never' : 'at',
    closesAt: toLocalTime(closesAt),
    clients: allow === undefined ? 'all' : 'only',
    allow: toLines(allow),
    deny: toLines(deny),
    documents: rules.readOnly === true ? 'read' : 'write',
    anonymous: read === undefined ? 'none' : read === true ? 'all' : 'some',
    collections: read === undefined || read === true ? '' : toLines(read),
    administration: rules.administration === false ? 'off' : 'on',
    pages: cors === undefined ? 'none' : isAnyOrigin ? 'all' : 'some',
    origins: isAnyOrigin ? '' : toLines(cors?.origins),
    maxAge: toText(cors?.maxAge),
    rate: toText(rateLimit?.requestsPerSecond),
    burst: toText(rateLimit?.burst),
    by: rateLimit?.by ?? 'client',
    connections: toText(rules.maxConnections),
    bodySize: formatSize(rules.maxBodyBytes),
    certificates: tls?.certificates ?? [],
    minVersion: tls?.minVersion ?? '1.2',
    clientAuth: tls?.clientAuth?.mode ?? 'none',
    ca: tls?.clientAuth?.ca ?? '',
    tokens: tls?.clientAuth?.tokens ?? [],
  }
}

/**
 * Returns the request body of a draft, which has no field with a default value.
 *
 * @param base the policy that the form was opened with. Its time of removal has a finer resolution
 *   than the field.
 */
export function toPolicyInput(draft: PolicyDraft, base: Policy | null): PolicyInput {
  const { closes, pages, anonymous } = draft
  const deny = fromLines(draft.deny)
  const rate = fromText(draft.rate)
  const burst = fromText(draft.burst)
  const maxAge = fromText(draft.maxAge)
  const isSameTime = draft.closesAt === toLocalTime(base?.closesAt)
  const input: { [Field in keyof PolicyInput]: PolicyInput[Field] | false } = {
    enabled: base?.enabled === false ? false : undefined,
    closesAt: closes === 'at' && (isSameTime ? base?.closesAt : toIsoTime(draft.closesAt)),
    closesIn: closes !== 'at' && closes !== 'never' && closes,
    note: draft.note.trim() || undefined,
    allow: draft.clients === 'only' && fromLines(draft.allow),
    deny: deny.length > 0 && deny,
    readOnly: draft.documents === 'read' || undefined,
    anonymous: anonymous !== 'none' && {
      read: anonymous === 'all' || fromLines(draft.collections),
    },
    administration: draft.administration === 'off' ? false : undefined,
    cors: pages !== 'none' && {
      origins: pages === 'all' ? ['*'] : fromLines(draft.origins),
      ...(maxAge !== undefined && { maxAge }),
    },
    rateLimit: rate !== undefined && {
      requestsPerSecond: rate,
      ...(burst !== undefined && { burst }),
      ...(draft.by !== 'client' && { by: draft.by }),
    },
    maxConnections: fromText(draft.connections),
    maxBodyBytes: parseSize(draft.bodySize),
    tls: hasTls(draft) && toTls(draft),
  }
  const isBoolean = (field: string) => field === 'enabled' || field === 'administration'
  return Object.fromEntries(
    Object.entries(input).filter(
      ([field, value]) => value !== undefined && (value !== false || isBoolean(field)),
    ),
  ) as PolicyInput
}

/** The fields of each section. */
const sectionFields: Readonly<Record<PolicySection, readonly (keyof PolicyDraft)[]>> = {
  general: ['closes', 'closesAt', 'note'],
  access: ['clients', 'allow', 'deny'],
  tls: ['certificates', 'minVersion', 'clientAuth', 'ca', 'tokens'],
  documents: ['documents', 'anonymous', 'collections'],
  administration: ['administration'],
  pages: ['pages', 'origins', 'maxAge'],
  limits: ['rate', 'burst', 'by', 'connections', 'bodySize'],
}

/** Returns the stored policy as a draft, with the fields of one section of an edited draft. */
export function withSection(
  stored: Policy | null,
  section: PolicySection,
  draft: PolicyDraft,
): PolicyDraft {
  const edited = sectionFields[section].map((field) => [field, draft[field]])
  return { ...toPolicyDraft(stored), ...Object.fromEntries(edited) }
}

/** Returns whether a draft has a rule of TLS. */
const hasTls = ({ certificates, minVersion, clientAuth }: PolicyDraft): boolean =>
  certificates.length > 0 || minVersion !== '1.2' || clientAuth !== 'none'

function toTls(draft: PolicyDraft): NonNullable<PolicyInput['tls']> {
  const { minVersion, clientAuth, ca } = draft
  const tokens = draft.tokens.map(({ san, token }) => ({ san: san.trim(), token }))
  return {
    certificates: [...draft.certificates],
    ...(minVersion !== '1.2' && { minVersion }),
    ...(clientAuth !== 'none' && {
      clientAuth: { ca, mode: clientAuth, ...(tokens.length > 0 && { tokens }) },
    }),
  }
}

/** Returns the policy that the server makes of a request body. `now` is in ms since 1970. */
export function toPolicy({ closesIn, ...policy }: PolicyInput, now: number): Policy {
  if (closesIn === undefined) return policy
  const unit = UNITS[closesIn.slice(-1) as keyof typeof UNITS]
  return { ...policy, closesAt: new Date(now + Number.parseInt(closesIn, 10) * unit).toISOString() }
}

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Returns a policy for storage: null if all its rules have their defaults. */
export const orDefaults = <P extends object>(policy: P): P | null =>
  Object.keys(policy).length === 0 ? null : policy

/** Groups of fields that are validated together: a change of one clears the errors of all. */
export const policyFieldGroups = [
  ['closes', 'closesAt'],
  ['clients', 'allow'],
  ['anonymous', 'collections'],
  ['pages', 'origins', 'maxAge'],
  ['rate', 'burst', 'by'],
  ['certificates', 'minVersion', 'clientAuth', 'ca', 'tokens'],
] as const

/** The field of the form for each member of the request body. */
const FIELDS = {
  note: 'note',
  closesAt: 'closesAt',
  closesIn: 'closesAt',
  allow: 'allow',
  deny: 'deny',
  anonymous: 'collections',
  cors: 'origins',
  rateLimit: 'rate',
  maxConnections: 'connections',
  maxBodyBytes: 'bodySize',
  tls: 'certificates',
  'tls/clientAuth': 'ca',
  'tls/clientAuth/tokens': 'tokens',
} as const

/** Assigns the server's error messages to the fields of a section, or to the whole form. */
export function toPolicyErrors(error: Error, section: PolicySection): FormErrors {
  const errors = toFormErrors(error, FIELDS)
  const isShown = (field: string) =>
    field === 'form' || (sectionFields[section] as readonly string[]).includes(field)
  return Object.keys(errors).every(isShown) ? errors : { form: error.message }
}

const field = (path: keyof PolicyDraft, error: string, isValid: (draft: PolicyDraft) => boolean) =>
  z.refine<PolicyDraft>(isValid, { path: [path], error })

const isWhole = (text: string, min: number, max: number): boolean => {
  const count = fromText(text)
  return count === undefined || (Number.isInteger(count) && count >= min && count <= max)
}

/**
 * The schema of a draft. The server checks addresses, collections and origins, and names the one
 * that is invalid.
 */
export const policyDraftSchema = z.custom<PolicyDraft>().check(
  field('note', 'Use at most 500 characters.', ({ note }) => note.trim().length <= 500),
  field(
    'closesAt',
    'Choose a time in the future.',
    ({ closes, closesAt }) => closes !== 'at' || Date.parse(closesAt) > Date.now(),
  ),
  field(
    'collections',
    'Enter at least one collection.',
    ({ anonymous, collections }) => anonymous !== 'some' || fromLines(collections).length > 0,
  ),
  field(
    'origins',
    'Enter at least one origin, such as https://app.example.',
    ({ pages, origins }) => pages !== 'some' || fromLines(origins).length > 0,
  ),
  field(
    'maxAge',
    'Enter seconds from 0 to 86,400, or leave it empty.',
    ({ pages, maxAge }) => pages === 'none' || isWhole(maxAge, 0, 86_400),
  ),
  field('rate', 'Enter a number from 0.01 to 100,000, or leave it empty.', ({ rate }) => {
    const count = fromText(rate)
    return count === undefined || (count >= 0.01 && count <= 100_000)
  }),
  field(
    'rate',
    'Enter the requests per second first.',
    ({ rate, burst }) => rate.trim() !== '' || burst.trim() === '',
  ),
  field('burst', 'Enter a whole number from 1 to 100,000, or leave it empty.', ({ burst }) =>
    isWhole(burst, 1, 100_000),
  ),
  field(
    'connections',
    'Enter a whole number from 1 to 1,000,000, or leave it empty.',
    ({ connections }) => isWhole(connections, 1, 1_000_000),
  ),
  field('bodySize', 'Enter a size, such as 512 kB or 10 MiB, or leave it empty.', (draft) => {
    const size = parseSize(draft.bodySize)
    return size === undefined || (Number.isSafeInteger(size) && size > 0)
  }),
  field(
    'certificates',
    'Choose at least one certificate.',
    (draft) => !hasTls(draft) || draft.certificates.length > 0,
  ),
  field(
    'ca',
    'Paste the certificates of the authority that issues client certificates.',
    ({ clientAuth, ca }) => clientAuth === 'none' || ca.trim() !== '',
  ),
  field(
    'tokens',
    'Enter a name and choose a token in each row.',
    ({ clientAuth, tokens }) =>
      clientAuth === 'none' || tokens.every(({ san, token }) => san.trim() !== '' && token !== ''),
  ),
)

const toLines = (items: readonly string[] = []): string => items.join('\n')

/** Returns the items of a text: one per line, or separated by commas or spaces. */
export const fromLines = (text: string): string[] =>
  text.split(/[\s,]+/).filter((item) => item !== '')

const toText = (count: number | undefined): string => (count === undefined ? '' : `${count}`)

/** Returns the number that a text spells: NaN if it is none, undefined if it is empty. */
function fromText(text: string): number | undefined {
  const trimmed = text.trim()
  return trimmed === '' ? undefined : Number(trimmed)
}

/** Returns the local time of an ISO 8601 time for a field, to the minute. */
function toLocalTime(time: string | undefined): string {
  if (time === undefined) return ''
  const moment = new Date(time)
  const local = new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16)
}

/** Returns the ISO 8601 time of a field; undefined if it is empty. */
function toIsoTime(local: string): string | undefined {
  const moment = Date.parse(local)
  return Number.isNaN(moment) ? undefined : new Date(moment).toISOString()
}

const SIZES: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  kb: 1_000,
  mb: 1_000_000,
  gb: 1_000_000_000,
  kib: 1_024,
  mib: 1_048_576,
  gib: 1_073_741_824,
}

/** Returns the number of bytes of a text such as `512 kB`; NaN if it is none. */
function parseSize(text: string): number | undefined {
  const trimmed = text.trim().toLowerCase()
  if (trimmed === '') return undefined
  const [, count, unit] = /^([0-9.]+) ?([a-z]*)$/.exec(trimmed) ?? []
  return Number(count) * (SIZES[unit ?? ''] ?? Number.NaN)
}

/** Returns the shortest exact text of a number of bytes. */
function formatSize(bytes: number | undefined): string {
  if (bytes === undefined) return ''
  const units = [
    ['GiB', SIZES.gib],
    ['GB', SIZES.gb],
    ['MiB', SIZES.mib],
    ['MB', SIZES.mb],
    ['KiB', SIZES.kib],
    ['kB', SIZES.kb],
  ] as const
  const [unit, size = 1] = units.find(([, each = 1]) => bytes % each === 0) ?? ['bytes']
  return unit === 'bytes' ? `${bytes}` : `${bytes / size} ${unit}`
}
