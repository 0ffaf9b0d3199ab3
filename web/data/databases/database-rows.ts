import type { SizeList } from '../../../server/contract/document.ts'
import type { EndpointRecord } from '../../../server/contract/endpoints/endpoint.ts'

export interface ServingEndpoint {
  readonly endpoint: string
  /** Whether the endpoint uses this database for requests that name none. */
  readonly isDefault: boolean
}

/** A database in the table. Sizes are null until the server has counted them. */
export interface DatabaseRow {
  readonly name: string
  readonly collections: number | null
  readonly documents: number | null
  readonly bytes: number | null
  readonly measured: string | null
  /** Endpoints whose mapping names the database. */
  readonly mapped: readonly ServingEndpoint[]
  /** Endpoints that reach every database. All rows share this list. */
  readonly open: readonly ServingEndpoint[]
}

/** Joins database names with their sizes and endpoints. Undefined inputs are not loaded yet. */
export function toDatabaseRows(
  names: readonly string[],
  sizes: SizeList | undefined,
  endpoints: readonly EndpointRecord[] | undefined,
): DatabaseRow[] {
  const sized = new Map((sizes ?? []).map((each) => [each.database, each]))
  const { mapped, open } = groupByMapping(endpoints ?? [])
  const openToSystem = open.map((each) => ({ ...each, isDefault: true }))
  return names.map((name) => {
    const {
      collections = null,
      documents = null,
      bytes = null,
      measured = null,
    } = sized.get(name) ?? {}
    return {
      name,
      collections,
      documents,
      bytes,
      measured,
      mapped: mapped.get(name) ?? [],
      // An endpoint with an empty mapping uses `_system` as its default.
      open: name === '_system' ? openToSystem : open,
    }
  })
}

/** Returns the databases that mappings name and that do not exist, with those endpoints. */
export const missingDatabases = (
  names: readonly string[],
  endpoints: readonly EndpointRecord[] | undefined,
): [string, ServingEndpoint[]][] =>
  [...groupByMapping(endpoints ?? []).mapped].filter(([name]) => !names.includes(name))

function groupByMapping(endpoints: readonly EndpointRecord[]) {
  const mapped = new Map<string, ServingEndpoint[]>()
  const open: ServingEndpoint[] = []
  for (const { endpoint, databases } of endpoints) {
    if (databases.length === 0) open.push({ endpoint, isDefault: false })
    for (const [at, name] of databases.entries()) {
      const reach = mapped.get(name) ?? []
      reach.push({ endpoint, isDefault: at === 0 })
      mapped.set(name, reach)
    }
  }
  return { mapped, open }
}

/** Returns all endpoints that reach a database, starting with those that name it. */
export const servingEndpoints = ({ mapped, open }: DatabaseRow): ServingEndpoint[] => [
  ...mapped,
  ...open,
]

/** Formats how many endpoints reach a database, and for how many it is the default. */
export function formatEndpointCount({ mapped, open }: DatabaseRow): string {
  const count = mapped.length + open.length
  if (count === 0) return 'None'
  const defaults = [mapped, open].reduce(
    (sum, reach) => sum + reach.filter(({ isDefault }) => isDefault).length,
    0,
  )
  return defaults === 0 ? `${count}` : `${count}, default of ${defaults}`
}

/** Returns a sentence that says which endpoints will reach a new database. */
export function formatServingEndpoints(name: string, endpoints: readonly EndpointRecord[]): string {
  const { mapped, open } = groupByMapping(endpoints)
  const named = mapped.get(name)?.length ?? 0
  if (open.length + named === 0) return 'No endpoint serves it yet. Map one to it afterwards.'
  const parts = [
    named > 0 && `${count(named)} that already ${named === 1 ? 'has' : 'have'} it in the mapping`,
    open.length > 0 &&
      `${count(open.length)} that ${open.length === 1 ? 'serves' : 'serve'} all databases`,
  ].filter((part) => part !== false)
  return `It is served immediately by ${parts.join(' and ')}.`
}

const count = (endpoints: number) => `${endpoints} endpoint${endpoints === 1 ? '' : 's'}`
