import type { Policy } from '../../server/contract/endpoints/policy.ts'
import { formatBytes, formatCount, formatRate } from '../ui/text/format-number.ts'
import { exactTime } from '../ui/text/relative-time.tsx'

/** The rules of a policy as words of the filter (`rule:read-only`), most important first. */
export const RULE_WORDS = [
  'off',
  'temporary',
  'no-token',
  'read-only',
  'networks',
  'blocked',
  'no-console',
  'cors',
  'rate',
  'connections',
  'bodies',
] as const

export type RuleWord = (typeof RULE_WORDS)[number]

/** A rule of a policy in a few words. */
export interface RuleLabel {
  readonly word: RuleWord
  /** The text of a chip, such as "3 networks only". */
  readonly text: string
}

/** Returns the rules of a policy that differ from the defaults, most important first. */
export function labelRules(policy: Policy, now: number): RuleLabel[] {
  const { closesAt, anonymous, allow, deny = [], rateLimit, maxConnections, maxBodyBytes } = policy
  const texts: Readonly<Record<RuleWord, string | false | 0 | undefined>> = {
    off: policy.enabled === false && 'off',
    temporary: closesAt && formatRemoval(Date.parse(closesAt) - now),
    'no-token': isAnonymous(anonymous) && 'no token to read',
    'read-only': policy.readOnly && 'read-only',
    networks: allow && (allow.length === 0 ? 'no clients' : `${formatNetworks(allow.length)} only`),
    blocked: deny.length > 0 && `${formatNetworks(deny.length)} blocked`,
    'no-console': policy.administration === false && 'no console',
    cors: policy.cors && 'CORS',
    rate: rateLimit && `${formatPerSecond(rateLimit.requestsPerSecond)}/s`,
    connections: maxConnections && formatPlural(maxConnections, 'connection'),
    bodies: maxBodyBytes && `bodies ≤ ${formatBinary(maxBodyBytes)}`,
  }
  return RULE_WORDS.flatMap((word) => {
    const text = texts[word]
    return text ? { word, text } : []
  })
}

const isAnonymous = (anonymous: Policy['anonymous']): boolean =>
  anonymous !== undefined && anonymous !== 'none'

const formatPlural = (count: number, thing: string) =>
  `${formatCount(count)} ${thing}${count === 1 ? '' : 's'}`

const formatNetworks = (count: number): string => formatPlural(count, 'network')

/** Formats a rate with enough decimals for rates below 1: "0.05", "2.5", "1,000". */
const formatPerSecond = (rate: number): string => (rate < 1 ? `${rate}` : formatRate(rate))

/** Formats a number of bytes in binary units if it is a round number of them: "1 MiB". */
function formatBinary(bytes: number): string {
  const units = ['KiB', 'MiB', 'GiB']
  const at = units.findLastIndex((_, power) => bytes % 1_024 ** (power + 1) === 0)
  return at === -1 ? formatBytes(bytes) : `${formatCount(bytes / 1_024 ** (at + 1))} ${units[at]}`
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Formats the time until a removal: "removed in 1 h 20 min", "removed in 40 s". */
export function formatRemoval(milliseconds: number): string {
  if (milliseconds <= 0) return 'being removed'
  if (milliseconds < 2 * MINUTE) return `removed in ${Math.ceil(milliseconds / 1_000)} s`
  const [large, small, units] =
    milliseconds < 2 * DAY ? [HOUR, MINUTE, ['h', 'min']] : [DAY, HOUR, ['d', 'h']]
  const rounded = Math.round(milliseconds / small) * small
  const parts = [Math.floor(rounded / large), Math.round((rounded % large) / small)]
  const text = parts.flatMap((count, at) => (count > 0 ? `${count} ${units[at]}` : []))
  return `removed in ${text.join(' ')}`
}

/** A rule that differs between two policies, in words. */
export interface RuleChange {
  readonly rule: string
  readonly before: string
  readonly after: string
}

type Describe = {
  readonly [Field in keyof Policy]-?: readonly [string, (policy: Policy) => string]
}

/** The name of each rule, and what it says in a policy; without a policy, the default. */
const rules: Describe = {
  enabled: ['Endpoint', ({ enabled }) => (enabled === false ? 'off' : 'on')],
  closesAt: [
    'Removed',
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
}

const listOr = (names: readonly string[] | undefined, none: string): string =>
  names === undefined || names.length === 0 ? none : names.join(', ')

/** Returns the rules that differ between two policies; without a policy, the defaults apply. */
export function compareRules(before: Policy | null, after: Policy | null): RuleChange[] {
  return Object.values(rules).flatMap(([rule, describe]) => {
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
