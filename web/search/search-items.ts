import type { Role } from '../../server/contract/access/principal.ts'
import type { EndpointRecord } from '../../server/contract/endpoints/endpoint.ts'
import type { PolicyRecord } from '../../server/contract/endpoints/policy.ts'
import { hasRole, type SignedIn } from '../api/session/person.ts'
import { type Searchable, searchable } from './match.ts'

/** The kind of a search result, shown beside it. */
export type ResultKind = 'Page' | 'Action' | 'Endpoint' | 'Database' | 'Collection'

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

interface BuiltIn {
  readonly label: string
  readonly target: SearchTarget
  /** Synonyms. */
  readonly also?: string
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
  { label: 'Create token', target: { to: '/me/new-token' }, also: 'new api key create' },
  { label: 'Show keyboard shortcuts', target: { act: 'keys' }, also: 'keyboard shortcuts help' },
  { label: 'Use light theme', target: { act: 'light' }, also: 'color colour appearance' },
  { label: 'Use dark theme', target: { act: 'dark' }, also: 'color colour appearance night' },
  { label: 'Use system theme', target: { act: 'auto' }, also: 'color colour appearance' },
]

const make =
  (kind: ResultKind) =>
  ({ label, target, also }: BuiltIn): Item => ({
    id: `${kind}:${label}`,
    kind,
    label,
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
    return { ...make('Endpoint')({ label, target, ...(note && { also: note }) }), note }
  })
}

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
  return {
    id: `Collection:${path}`,
    kind: 'Collection',
    label: `${database} / ${name}`,
    target: { to: `/data/${path}` },
    searched: searchable(name, path),
  }
}
