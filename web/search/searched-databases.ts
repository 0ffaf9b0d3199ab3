/** Maximum number of databases whose collections are searched at the same time. */
export const MAX_DATABASES = 20

/**
 * Returns the databases whose collections a query searches: all of them up to {@link MAX_DATABASES};
 * otherwise those that the query names before a slash, then those whose collections are loaded.
 *
 * @param loaded the databases whose collections are in the cache.
 */
export function searchedDatabases(
  databases: readonly string[],
  query: string,
  loaded: readonly string[],
): readonly string[] {
  if (databases.length <= MAX_DATABASES) return databases
  const [name, ...rest] = query.toLowerCase().split('/')
  const isNamed = (database: string) => rest.length > 0 && database.toLowerCase() === name?.trim()
  const known = databases.filter((each) => !isNamed(each) && loaded.includes(each))
  return [...databases.filter(isNamed), ...known].slice(0, MAX_DATABASES)
}

export interface SearchedCount {
  /** Number of databases whose collections are searched. */
  readonly searched: number
  /** Number of databases that the endpoint of the page serves. */
  readonly served: number
  readonly all: number
}

/** Returns which collections are not searched; undefined if all are. */
export function describeUnsearched({ searched, served, all }: SearchedCount): string | undefined {
  if (searched === 0 && served > 0) {
    return 'Collections are not searched. To search those of a database, type its name and a slash, such as shop/.'
  }
  if (searched < served) {
    return `Collections of ${searched} of ${served} databases are searched. To search those of another, type its name and a slash, such as shop/.`
  }
  if (served === all) return undefined
  const others = all - served
  return `Collections of ${others} ${others === 1 ? 'database' : 'databases'} are not searched, because the endpoint that you are connected through does not serve ${others === 1 ? 'it' : 'them'}.`
}
