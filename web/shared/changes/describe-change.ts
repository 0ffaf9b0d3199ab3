import { OPERATOR } from '../../../server/contract/access/principal.ts'
import type { AuditRow } from '../../../server/contract/audit.ts'
import type { AuditAction } from '../../../server/contract/audit-action.ts'
import { formatCount } from '../../ui/text/format-number.ts'
import { exactTime } from '../../ui/text/relative-time.tsx'

/** A part of a sentence: words, the name of who made the change, or of what was changed. */
export type Part = string | { readonly who: string } | { readonly name: string }

/** The verb of a change and of an attempt that was rejected, and what follows it. */
type Phrase = readonly [done: string, attempt: string, ...rest: readonly Part[]]

/** What each action did. The actor precedes it. */
const phrases: Readonly<Record<AuditAction, (row: AuditRow) => Phrase>> = {
  'endpoint.add': ({ target, after, outcome }) => [
    'added',
    // The server rejects some requests before it knows which of the two they are.
    outcome === 'refused' ? 'add or map' : 'add',
    ...noun('endpoint', target),
    ...databases('for', after),
  ],
  'endpoint.map': ({ target, after }) => [
    'mapped',
    'map',
    target === '' ? 'an endpoint' : { name: target },
    ...databases('to', after),
  ],
  'endpoint.remove': ({ target }) => ['removed', 'remove', ...noun('endpoint', target)],
  'endpoint.change': ({ after }) => {
    const { changes = 0, removals = 0 } = numbers(after)
    const all = changes > 0 && removals === changes
    const more = all || removals === 0 ? [] : [`and removed ${formatCount(removals)} of them`]
    return [
      all ? 'removed' : 'changed',
      all ? 'remove' : 'change',
      ...(changes === 0 ? ['endpoints'] : [count(changes, 'endpoint'), ...more]),
    ]
  },
  'endpoint.change-cancel': ({ after }) => {
    const { made = 0, changes = 0 } = numbers(after)
    return ['cancelled', 'cancel', `a bulk change after ${made} of ${count(changes, 'endpoint')}`]
  },
  'endpoint.change-undo': ({ after }) => {
    const { changes = 0 } = numbers(after)
    return [
      'undid',
      'undo',
      'a bulk change',
      ...(changes > 0 ? [`of ${count(changes, 'endpoint')}`] : []),
    ]
  },
  'policy.set': ({ target, before }) => [
    before === null ? 'set' : 'changed',
    'change',
    ...of('the policy', 'an endpoint', target),
  ],
  'policy.remove': ({ target }) => [
    'removed',
    'remove',
    ...of('the policy', 'an endpoint', target),
  ],
  'policy.confirm': ({ target }) => [
    'kept',
    'keep',
    ...of('the policy', 'an endpoint', target),
    'after its trial',
  ],
  'certificate.add': ({ target }) => ['added', 'add', ...noun('certificate', target)],
  'certificate.replace': ({ target }) => ['replaced', 'replace', ...noun('certificate', target)],
  'certificate.remove': ({ target }) => ['deleted', 'delete', ...noun('certificate', target)],
  'database.create': ({ target }) => ['created', 'create', ...noun('database', target)],
  'database.drop': ({ target }) => ['dropped', 'drop', ...noun('database', target)],
  'database.import': ({ target, after }) => {
    const { collections } = numbers(after)
    const what =
      collections === undefined
        ? 'a file'
        : `${count(collections, 'collection')} with ${stored(after)}`
    return ['imported', 'import', what, 'into', { name: target }]
  },
  'collection.import': ({ target, after }) => [
    'imported',
    'import',
    stored(after),
    'into',
    { name: target },
  ],
  'collection.delete': ({ target, after }) => [
    'deleted',
    'delete',
    ...noun('collection', target),
    ...(after === null ? [] : [`with ${count(numbers(after).deleted ?? 0, 'document')}`]),
  ],
  'index.create': ({ target }) => ['created', 'create', ...index(target)],
  'index.drop': ({ target }) => ['deleted', 'delete', ...index(target)],
  'feed.set': ({ target, before }) => [
    before === null ? 'turned on' : 'changed',
    'change',
    ...of('the feed', 'a collection', target),
  ],
  'feed.remove': ({ target }) => [
    'turned off',
    'turn off',
    ...of('the feed', 'a collection', target),
  ],
  'webhook.create': ({ target }) => ['created', 'create', ...noun('webhook', target)],
  'webhook.change': ({ target }) => ['changed', 'change', ...noun('webhook', target)],
  'webhook.delete': ({ target }) => ['deleted', 'delete', ...noun('webhook', target)],
  'webhook.pause': ({ target }) => ['paused', 'pause', ...noun('webhook', target)],
  'webhook.resume': ({ target }) => ['resumed', 'resume', ...noun('webhook', target)],
  'webhook.secret': ({ target }) => ['renewed', 'renew', ...of('the secret', 'a webhook', target)],
  'webhook.test': ({ target }) => ['tested', 'test', ...noun('webhook', target)],
  'webhook.retry': ({ target }) => ['repeated', 'repeat', ...of('a delivery', 'a webhook', target)],
  'schema.set': ({ target, before }) => [
    before === null ? 'set' : 'changed',
    'set',
    ...of('the schema', 'a collection', target),
  ],
  'schema.delete': ({ target }) => [
    'deleted',
    'delete',
    ...of('the schema', 'a collection', target),
  ],
  'session.begin': () => ['signed in', 'sign in'],
  'session.fail': ({ target, after }) => {
    const { failures } = numbers(after)
    const how =
      failures === undefined ? ['with', { name: target }] : [`${count(failures, 'more time')}`]
    return ['failed to sign in', 'sign in', ...how]
  },
  'session.end': (row) => {
    const ended = list(row.before, 'sessions')?.length ?? 1
    if (row.target === row.actor) {
      return [
        'ended',
        'end',
        ended === 1 ? 'their session' : `${formatCount(ended)} of their sessions`,
      ]
    }
    return ['ended', 'end', ended === 1 ? 'a session' : count(ended, 'session'), 'of', person(row)]
  },
  'person.create': ({ after }) => [
    'signed in for the first time',
    'sign in',
    ...(text(after, 'role') === 'pending' ? ['and waits for a role'] : []),
  ],
  'person.role': describeRole,
  'provider.add': ({ target }) => ['added', 'add', ...noun('provider', target)],
  'provider.change': ({ target }) => ['changed', 'change', ...noun('provider', target)],
  'provider.remove': ({ target }) => ['removed', 'remove', ...noun('provider', target)],
  'provider.test': ({ target }) => ['tested', 'test', ...noun('provider', target)],
  'invitation.create': ({ after }) => {
    const note = text(after, 'note')
    return ['invited', 'invite', note === undefined ? 'a person' : { who: note }, ...access(after)]
  },
  'invitation.delete': ({ before }) => {
    const note = text(before, 'note')
    const what = note === undefined ? ['an invitation'] : ['the invitation for', { who: note }]
    return ['deleted', 'delete', ...what, ...access(before)]
  },
  'invitation.accept': ({ after }) => ['accepted', 'accept', 'an invitation', ...access(after)],
  'token.create': (row) => ['created', 'create', ...token(row)],
  'token.revoke': (row) => ['revoked', 'revoke', ...token(row)],
  'operator-key.renew': () => ['renewed', 'renew', 'the operator key'],
  'secret.discard': () => ['deleted', 'delete', 'all stored secrets'],
  'store.restore': ({ target }) => ['restored', 'restore', 'the backup of', timeOr(target)],
}

/**
 * Returns a change as a sentence, in parts that are separated by spaces: "Operator removed Eve's
 * access", "ci-deploy (token of Ada) mapped tcp://127.0.0.1:8531 to shop", "Eve tried to drop
 * database shop".
 */
export function describeChange(row: AuditRow): Part[] {
  const [done, attempt, ...rest] = phrases[row.action](row)
  return [...actorOf(row), row.outcome === 'refused' ? `tried to ${attempt}` : done, ...rest]
}

/** Returns a sentence as plain text. */
export const textOf = (parts: readonly Part[]): string =>
  parts
    .map((part) => (typeof part === 'string' ? part : 'who' in part ? part.who : part.name))
    .join(' ')

/** The server itself, and parts of it, as actors. */
const systemActors: Readonly<Record<string, string>> = {
  anonymous: 'Someone',
  policy: 'A policy',
  certificates: 'Gatehouse',
  start: 'Gatehouse',
  upgrade: 'Gatehouse',
  webhooks: 'Gatehouse',
}

function actorOf({ actor, actorName, by, token }: AuditRow): Part[] {
  const who = nameOf(actor, actorName)
  if (by === 'command-line') return [{ who: 'The command line' }]
  if (by === 'system') return [{ who: systemActors[actor] ?? who }]
  if (by === 'session') return [{ who }]
  return token === null ? [{ who }, '(by token)'] : [{ who: token }, `(token of ${who})`]
}

const nameOf = (username: string, name: string | null): string =>
  name ?? (username === OPERATOR.username ? 'Operator' : username)

const person = ({ target, targetName }: AuditRow): string | { readonly who: string } =>
  target === '' ? 'a person' : { who: nameOf(target, targetName) }

/** A kind of object with its name. A change that was rejected before its body was read has none. */
const noun = (kind: string, name: string): Part[] =>
  name === '' ? [`${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind}`] : [kind, { name }]

const of = (what: string, any: string, name: string): Part[] => [
  what,
  'of',
  name === '' ? any : { name },
]

function index(target: string): Part[] {
  const [database = '', collection, ...name] = target.split('/')
  if (collection === undefined || name.length === 0) return noun('index', target)
  return ['index', { name: name.join('/') }, 'of', { name: `${database}/${collection}` }]
}

function token({ target, actor }: AuditRow): Part[] {
  if (target.startsWith(`${actor}/`)) return ['token', { name: target.slice(actor.length + 1) }]
  const at = target.indexOf('/')
  if (at === -1) return noun('token', target)
  const owner = nameOf(target.slice(0, at), null)
  return ['token', { name: target.slice(at + 1) }, 'of', { who: owner }]
}

function describeRole(row: AuditRow): Phrase {
  const [before, after] = [text(row.before, 'role'), text(row.after, 'role')]
  const who = person(row)
  const whose = typeof who === 'string' ? `${who}'s` : { who: `${who.who}'s` }
  const limit = databases('for', row.after)
  if (row.outcome === 'refused' || after === undefined) return ['changed', 'change', whose, 'role']
  if (after === 'none' || after === 'pending') return ['removed', 'remove', whose, 'access']
  if (before === 'none' || before === 'pending')
    return ['gave', 'give', who, `access as ${after}`, ...limit]
  if (before !== after) return ['changed', 'change', whose, `role to ${after}`, ...limit]
  const isLimited = list(row.after, 'databases') !== undefined
  if (isLimited) return ['limited', 'limit', who, ...databases('to', row.after)]
  return ['gave', 'give', who, 'access to every database']
}

function access(value: unknown): Part[] {
  const role = text(value, 'role')
  return role === undefined ? [] : [`as ${role}`, ...databases('for', value)]
}

/** Maximum number of databases that a sentence names. */
const SHOWN = 3

function databases(preposition: string, value: unknown): Part[] {
  const names = list(value, 'databases')
  if (names === undefined) return []
  if (names.length === 0) return [preposition, 'every database']
  const more = names.length > SHOWN + 1 ? names.length - SHOWN : 0
  const shown = { name: names.slice(0, names.length - more).join(', ') }
  return [preposition, shown, ...(more > 0 ? [`and ${more} more`] : [])]
}

const stored = (value: unknown) => {
  const { created, replaced = 0 } = numbers(value)
  return created === undefined ? 'documents' : count(created + replaced, 'document')
}

const count = (number: number, one: string) =>
  `${formatCount(number)} ${one}${number === 1 ? '' : 's'}`

const timeOr = (value: string): string => {
  const time = Date.parse(value)
  return Number.isNaN(time) ? value : exactTime(time)
}

const fields = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {}

const text = (value: unknown, key: string): string | undefined => {
  const field = fields(value)[key]
  return typeof field === 'string' ? field : undefined
}

const list = (value: unknown, key: string): string[] | undefined => {
  const field = fields(value)[key]
  return Array.isArray(field) ? field.map(String) : undefined
}

const numbers = (value: unknown): Readonly<Record<string, number | undefined>> =>
  Object.fromEntries(
    Object.entries(fields(value)).filter(
      (entry): entry is [string, number] => typeof entry[1] === 'number',
    ),
  )
