import type { SizeList } from '../../server/contract/document.ts'
import type { EndpointRecord } from '../../server/contract/endpoint.ts'

/** An endpoint that reaches a database. */
export interface Reach {
  readonly endpoint: string
  /** Whether requests that name no database reach this one there. */
  readonly isDefault: boolean
}

/** A database as the page shows it; null: not counted yet. */
export interface DatabaseRow {
  readonly name: string
  readonly collections: number | null
  readonly documents: number | null
  readonly bytes: number | null
  readonly measured: string | null
  /** The endpoints whose mapping names it. */
  readonly naming: readonly Reach[]
  /** The endpoints that reach every database; the same list in every row. */
  readonly open: readonly Reach[]
}

/** Joins the names of databases with what they hold and who reaches them; undefined: not known. */
export function toDatabaseRows(
  names: readonly string[],
  sizes: SizeList | undefined,
  endpoints: readonly EndpointRecord[] | undefined,
): DatabaseRow[] {
  const sized = new Map((sizes ?? []).map((each) => [each.database, each]))
  const { naming, open } = reachOf(endpoints ?? [])
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
      naming: naming.get(name) ?? [],
      // Where the mapping is empty, _system is the default.
      open: name === '_system' ? openToSystem : open,
    }
  })
}

function reachOf(endpoints: readonly EndpointRecord[]) {
  const naming = new Map<string, Reach[]>()
  const open: Reach[] = []
  for (const { endpoint, databases } of endpoints) {
    if (databases.length === 0) open.push({ endpoint, isDefault: false })
    for (const [at, name] of databases.entries()) {
      const reach = naming.get(name) ?? []
      reach.push({ endpoint, isDefault: at === 0 })
      naming.set(name, reach)
    }
  }
  return { naming, open }
}

/** Every endpoint that reaches a database: first those that name it. */
export const reaching = ({ naming, open }: DatabaseRow): Reach[] => [...naming, ...open]

/** How many endpoints reach a database, and of how many it is the default. */
export function sayReach({ naming, open }: DatabaseRow): string {
  const count = naming.length + open.length
  if (count === 0) return 'None'
  const defaults = [naming, open].reduce(
    (sum, reach) => sum + reach.filter(({ isDefault }) => isDefault).length,
    0,
  )
  return defaults === 0 ? `${count}` : `${count}, default of ${defaults}`
}

/** The rows whose name holds what was typed, in whatever case. */
export function filterRows(rows: readonly DatabaseRow[], text: string): readonly DatabaseRow[] {
  const wanted = text.trim().toLowerCase()
  return wanted === '' ? rows : rows.filter(({ name }) => name.toLowerCase().includes(wanted))
}

/** Which endpoints will reach a database that is about to be created. */
export function sayWhoReaches(name: string, endpoints: readonly EndpointRecord[]): string {
  const { naming, open } = reachOf(endpoints)
  const named = naming.get(name)?.length ?? 0
  if (open.length + named === 0) return 'No endpoint reaches it yet: map one to it afterwards.'
  const parts = [
    named > 0 && `${count(named)} that ${named === 1 ? 'names' : 'name'} it already`,
    open.length > 0 &&
      `${count(open.length)} that ${open.length === 1 ? 'reaches' : 'reach'} every database`,
  ].filter((part) => part !== false)
  return `It is reached at once through ${parts.join(' and ')}.`
}

const count = (endpoints: number) => `${endpoints} endpoint${endpoints === 1 ? '' : 's'}`
