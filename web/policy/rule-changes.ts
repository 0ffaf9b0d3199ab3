import { SYSTEM_DATABASE } from '../../server/contract/database.ts'
import type { Policy } from '../../server/contract/endpoints/policy.ts'
import { formatBinary, formatCount, formatPerSecond } from '../ui/text/format-number.ts'
import { exactTime } from '../ui/text/relative-time.tsx'
import type { PolicySection } from './policy-sections.ts'

/** A rule that differs between two policies, in words. */
export interface RuleChange {
  readonly rule: string
  readonly before: string
  readonly after: string
}

/** Returns whether an endpoint has clients with IP addresses, which a policy can admit. */
export const hasClients = (address: string): boolean => !address.startsWith('unix:')

export const UNIX_CLIENTS =
  'Clients of a Unix socket have no IP address. Every program that may open the socket file can connect.'

export const NO_CONSOLE = `The console is not available here, because the endpoint does not serve ${SYSTEM_DATABASE}.`

type Rule = keyof Policy | 'ca'

type Describe = { readonly [Field in Rule]-?: readonly [string, (policy: Policy) => string] }

/** The name of each rule, and what it says in a policy; without a policy, the default. */
const rules: Describe = {
  enabled: ['Endpoint', ({ enabled }) => (enabled === false ? 'off' : 'on')],
  closesAt: [
    'Removal',
    ({ closesAt }) => (closesAt === undefined ? 'never' : exactTime(Date.parse(closesAt))),
  ],
  note: ['Note', ({ note }) => note || 'none'],
  allow: ['Allowed clients', ({ allow }) => (allow === undefined ? 'all' : listOr(allow, 'none'))],
  deny: ['Blocked clients', ({ deny }) => listOr(deny, 'none')],
  readOnly: ['Documents', ({ readOnly }) => (readOnly ? 'read-only' : 'read and write')],
  anonymous: [
    'Read without a token',
    ({ anonymous }) => {
      if (anonymous === undefined || anonymous === 'none') return 'nothing'
      return anonymous.read === true ? 'all collections' : listOr(anonymous.read, 'nothing')
    },
  ],
  administration: [
    'Console and administration',
    ({ administration }) => (administration === false ? 'not available' : 'available'),
  ],
  cors: [
    'Origins of other pages',
    ({ cors }) => {
      if (cors === undefined) return 'none'
      const age = cors.maxAge === undefined ? '' : `, kept for ${cors.maxAge} s`
      return `${cors.origins.map((origin) => (origin === '*' ? 'all' : origin)).join(', ')}${age}`
    },
  ],
  rateLimit: [
    'Requests',
    ({ rateLimit }) => {
      if (rateLimit === undefined) return 'not limited'
      const { requestsPerSecond, burst, by = 'client' } = rateLimit
      const whose = by === 'endpoint' ? 'in all' : `for each ${by}`
      const atOnce = burst === undefined ? '' : `, ${formatCount(burst)} at once`
      return `${formatPerSecond(requestsPerSecond)}/s ${whose}${atOnce}`
    },
  ],
  maxConnections: [
    'Connections',
    ({ maxConnections }) =>
      maxConnections === undefined ? 'not limited' : `at most ${formatCount(maxConnections)}`,
  ],
  maxBodyBytes: [
    'Request bodies',
    ({ maxBodyBytes }) =>
      maxBodyBytes === undefined ? 'not limited here' : `at most ${formatBinary(maxBodyBytes)}`,
  ],
  tls: ['Certificates', ({ tls }) => describeTls(tls)],
  ca: ['Authority of the clients', ({ tls }) => listOr(marksOf(tls?.clientAuth?.ca), 'none')],
}

/** The rules of each section. An endpoint is turned off and on outside of them. */
const sectionRules: Readonly<Record<PolicySection, readonly Rule[]>> = {
  general: ['note', 'closesAt'],
  access: ['allow', 'deny'],
  tls: ['tls', 'ca'],
  documents: ['readOnly', 'anonymous'],
  administration: ['administration'],
  pages: ['cors'],
  limits: ['rateLimit', 'maxConnections', 'maxBodyBytes'],
}

/** Returns the rules of a section in words, and whether each has its default. */
export const factsOf = (policy: Policy, section: PolicySection) =>
  sectionRules[section].map((field) => {
    const [rule, describe] = rules[field]
    const value = describe(policy)
    return { rule, value, isDefault: value === describe({}) }
  })

/** Returns the end of the signature of each certificate, which tells them apart. */
const marksOf = (pem = '') =>
  pem
    .split('-----END')
    .slice(0, -1)
    .map((text) => `…${text.trim().slice(-8)}`)

function describeTls(tls: Policy['tls']): string {
  if (tls === undefined) return 'default'
  const { certificates, minVersion = '1.2', clientAuth } = tls
  const clients = clientAuth && `client certificates ${clientAuth.mode}d`
  const tokens = clientAuth?.tokens?.map(({ san, token }) => `${san} as token ${token}`)
  return [certificates.join(', '), `TLS ${minVersion} or newer`, clients, tokens?.join(', ')]
    .filter(Boolean)
    .join('; ')
}

const listOr = (names: readonly string[] | undefined, none: string): string =>
  names === undefined || names.length === 0 ? none : names.join(', ')

/**
 * Returns the rules that differ between two policies, of one section or of all; without a policy,
 * the defaults apply.
 */
export function compareRules(
  before: Policy | null,
  after: Policy | null,
  section?: PolicySection,
): RuleChange[] {
  const compared =
    section === undefined ? Object.values(rules) : sectionRules[section].map((each) => rules[each])
  return compared.flatMap(([rule, describe]) => {
    const change = { rule, before: describe(before ?? {}), after: describe(after ?? {}) }
    return change.before === change.after ? [] : change
  })
}

/** Returns whether two policies have the same effect; without a policy, the defaults apply. */
export const samePolicy = (before: Policy | null, after: Policy | null): boolean =>
  compareRules(before, after).length === 0

/** Returns a policy without a time of removal that has passed. */
export function dropPastRemoval(policy: Policy, now: number): Policy {
  const { closesAt, ...rest } = policy
  return closesAt !== undefined && Date.parse(closesAt) <= now ? rest : policy
}
