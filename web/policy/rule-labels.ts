import type { Policy } from '../../server/contract/endpoints/policy.ts'
import { formatBinary, formatCount, formatPerSecond } from '../ui/text/format-number.ts'

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
  'tls',
] as const

export type RuleWord = (typeof RULE_WORDS)[number]

/** A rule of a policy in a few words. */
export interface RuleLabel {
  readonly word: RuleWord
  /** The text of a chip, such as "3 networks only". */
  readonly text: string
}

/**
 * Returns the rules of a policy that differ from the defaults, most important first.
 *
 * @param warning about its certificates, which replaces their names; '' if there is none.
 */
export function labelRules(policy: Policy, now: number, warning = ''): RuleLabel[] {
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
    tls: warning || (policy.tls && formatTls(policy.tls)),
  }
  const labels = RULE_WORDS.flatMap((word) => {
    const text = texts[word]
    return text ? { word, text } : []
  })
  // Not hidden by other rules.
  const last = warning === '' ? undefined : labels.pop()
  return last === undefined ? labels : [last, ...labels]
}

const isAnonymous = (anonymous: Policy['anonymous']): boolean =>
  anonymous !== undefined && anonymous !== 'none'

/** Formats the certificates of an endpoint: "TLS: web", "TLS: web + 2, client certificate". */
function formatTls({ certificates, clientAuth }: NonNullable<Policy['tls']>): string {
  const more = certificates.length > 1 ? ` + ${certificates.length - 1}` : ''
  const clients = clientAuth?.mode === 'require' ? ', client certificate' : ''
  return `TLS: ${certificates[0]}${more}${clients}`
}

const formatPlural = (count: number, thing: string) =>
  `${formatCount(count)} ${thing}${count === 1 ? '' : 's'}`

const formatNetworks = (count: number): string => formatPlural(count, 'network')

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
