import type { Person, Role } from '../../server/contract/access/principal.ts'
import type { TokenInfo } from '../../server/contract/access/token.ts'
import type { CertificateRecord } from '../../server/contract/certificate.ts'
import type { EndpointRecord } from '../../server/contract/endpoints/endpoint.ts'
import type { PolicyRecord } from '../../server/contract/endpoints/policy.ts'
import type { WebhookRecord } from '../../server/contract/webhook.ts'
import { hasRole, nameOf, type SignedIn } from '../api/session/person.ts'
import { roleLabels } from '../shared/session/role-labels.ts'
import { type Searchable, searchable } from './match.ts'

/** The kind of a search result, shown beside it. */
export type ResultKind =
  | 'Page'
  | 'Action'
  | 'Endpoint'
  | 'Database'
  | 'Collection'
  | 'Person'
  | 'Token'
  | 'Certificate'
  | 'Webhook'

/** The action of a search result. */
export type SearchTarget =
  | { readonly to: string; readonly search?: Readonly<Record<string, string>> }
  | { readonly act: 'keys' | 'light' | 'dark' | 'auto' }

/** A searchable item. */
export interface Item {
  /** Stable across sessions, so that recent results can be offered again. */
  readonly id: string
  readonly kind: ResultKind
  readonly label: string
  /** Shown beside the label. */
  readonly note?: string | undefined
  readonly target: SearchTarget
  readonly searched: Searchable
}

interface Entry {
  /** By default the label. */
  readonly id?: string
  readonly label: string
  readonly note?: string | undefined
  readonly target: SearchTarget
  /** Synonyms. */
  readonly also?: string | undefined
}

interface BuiltIn extends Entry {
  readonly needs?: Role
}

const pages: readonly BuiltIn[] = [
  { label: 'Overview', target: { to: '/overview' }, also: 'home start traffic attention' },
  { label: 'Endpoints', target: { to: '/endpoints' }, also: 'listeners ports addresses' },
  { label: 'Endpoint map', target: { to: '/endpoints/map' }, also: 'picture lines' },
  {
    label: 'Rejected requests',
    target: { to: '/endpoints/requests' },
    also: 'live traffic forbidden blocked clients',
  },
  {
    label: 'Certificates',
    target: { to: '/certificates' },
    also: 'tls ssl https encryption',
    needs: 'operator',
  },
  { label: 'Data', target: { to: '/data' }, also: 'databases collections documents json sizes' },
  {
    label: 'Webhooks',
    target: { to: '/webhooks' },
    also: 'deliveries notifications callbacks changes',
    needs: 'editor',
  },
  { label: 'People', target: { to: '/access/people' }, also: 'access roles users', needs: 'admin' },
  {
    label: 'All tokens',
    target: { to: '/access/tokens' },
    also: 'access api keys credentials',
    needs: 'admin',
  },
  {
    label: 'Providers',
    target: { to: '/access/providers' },
    also: 'access oauth sign-in github google',
    needs: 'admin',
  },
  { label: 'Activity', target: { to: '/activity' }, also: 'audit log history changes' },
  {
    label: 'My sessions, tokens and preferences',
    target: { to: '/me' },
    also: 'profile account settings theme',
  },
]

const THEME = 'change switch color colour appearance'

const actions: readonly BuiltIn[] = [
  {
    label: 'Add endpoint',
    target: { to: '/endpoints/new' },
    also: 'new open port listen',
    needs: 'operator',
  },
  {
    label: 'Import endpoints',
    target: { to: '/endpoints/import' },
    also: 'load file json',
    needs: 'operator',
  },
  {
    label: 'Add certificate',
    target: { to: '/certificates/new' },
    also: 'new tls ssl https acme letsencrypt upload',
    needs: 'operator',
  },
  {
    label: 'Show failed endpoints',
    target: { to: '/endpoints', search: { q: 'state:failed' } },
    also: 'errors problems',
  },
  {
    label: 'Create database',
    target: { to: '/data', search: { dialog: 'create' } },
    also: 'new add',
    needs: 'operator',
  },
  {
    label: 'Import database',
    target: { to: '/data', search: { dialog: 'import' } },
    also: 'load restore file export ndjson',
    needs: 'operator',
  },
  {
    label: 'Add webhook',
    target: { to: '/webhooks/new' },
    also: 'new create notification callback changes',
    needs: 'editor',
  },
  { label: 'Create token', target: { to: '/me/new-token' }, also: 'new add api key' },
  {
    label: 'Invite someone',
    target: { to: '/access/people', search: { invite: 'yes' } },
    also: 'new add person people colleague user invitation',
    needs: 'admin',
  },
  {
    label: 'Add provider',
    target: { to: '/access/providers', search: { add: 'yes' } },
    also: 'new oauth openid oidc sign-in github google',
    needs: 'admin',
  },
  { label: 'Show keyboard shortcuts', target: { act: 'keys' }, also: 'keyboard shortcuts help' },
  { label: 'Use light theme', target: { act: 'light' }, also: THEME },
  { label: 'Use dark theme', target: { act: 'dark' }, also: THEME },
  { label: 'Use system theme', target: { act: 'auto' }, also: THEME },
]

const make =
  (kind: ResultKind) =>
  ({ label, id = label, note, target, also }: Entry): Item => ({
    id: `${kind}:${id}`,
    kind,
    label,
    note,
    target,
    searched: searchable(label, also),
  })

/** Returns the pages and actions that the role of a person allows. */
export const builtInItems = (person: SignedIn): readonly Item[] =>
  [
    ...pages.map((given) => ({ given, make: make('Page') })),
    ...actions.map((given) => ({ given, make: make('Action') })),
  ]
    .filter(({ given: { needs = 'viewer' } }) => hasRole(person, needs))
    .map(({ given, make }) => make(given))

/** Returns the endpoints, which are also found by their notes; each opens its panel. */
export function endpointItems(
  endpoints: readonly EndpointRecord[],
  policies: readonly PolicyRecord[],
): readonly Item[] {
  const notes = new Map(policies.map(({ endpoint, policy }) => [endpoint, policy.note]))
  return endpoints.map(({ endpoint: label }) => {
    const note = notes.get(label) || undefined
    const target = { to: '/endpoints', search: { open: label } }
    return make('Endpoint')({ label, target, note, also: note })
  })
}

/** Returns the people, who are also found by their usernames; each opens their page. */
export const personItems = (people: readonly Person[]): readonly Item[] =>
  people.map((person) =>
    make('Person')({
      id: person.id,
      label: nameOf(person),
      note: person.name === null ? roleLabels[person.role] : person.username,
      target: { to: `/access/people/${person.id}` },
      also: person.username,
    }),
  )

/** Returns tokens, which are also found by their owners and beginnings; each opens their list. */
export const tokenItems = (tokens: readonly TokenInfo[], to: string): readonly Item[] =>
  tokens.map(({ id, name: label, prefix, owner }) =>
    make('Token')({
      ...{ id, label, note: `${prefix}…, ${owner}`, target: { to } },
      also: `${prefix} ${owner}`,
    }),
  )

/** Returns the certificates, which are also found by the names that they cover. */
export const certificateItems = (certificates: readonly CertificateRecord[]): readonly Item[] =>
  certificates.map(({ name: label, current }) => {
    const note = current?.names.join(', ')
    const target = { to: '/certificates', search: { open: label } }
    return make('Certificate')({ label, note, target, also: note })
  })

/** Returns the webhooks, which are also found by their URLs and databases. */
export const webhookItems = (webhooks: readonly WebhookRecord[]): readonly Item[] =>
  webhooks.map(({ name: label, url, database }) => {
    const target = { to: '/webhooks', search: { open: label } }
    return make('Webhook')({ label, note: url, target, also: `${url} ${database}` })
  })

/** Returns the databases; each opens its documents. */
export const databaseItems = (names: readonly string[]): readonly Item[] =>
  names.map((name) => make('Database')({ label: name, target: { to: `/data/${name}` } }))

/** Returns the collections of a database; each opens its documents. */
export const collectionItems = (database: string, names: readonly string[]): readonly Item[] =>
  names.map((name) => toCollection(database, name))

/** Matches the id of a collection. */
const COLLECTION_ID = /^Collection:([^/]+)\/([^/]+)$/

/**
 * Returns the collection with an id, although the collections of its database may not be loaded.
 *
 * @param databases the databases that exist.
 */
export function findCollection(id: string, databases: readonly string[]): Item | undefined {
  const [, database = '', name = ''] = COLLECTION_ID.exec(id) ?? []
  return databases.includes(database) ? toCollection(database, name) : undefined
}

function toCollection(database: string, name: string): Item {
  const path = `${database}/${name}`
  const label = `${database} / ${name}`
  const item = make('Collection')({ id: path, label, target: { to: `/data/${path}` } })
  return { ...item, searched: searchable(name, path) }
}
