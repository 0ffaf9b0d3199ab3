import { requireDatabaseName, SYSTEM_DATABASE } from '../contract/database.ts'
import { MAPPING_NAMES } from '../contract/endpoints/endpoint.ts'
import { Failure } from '../failure.ts'

/**
 * The databases that an endpoint serves (docs/http-api.md, "Endpoints"). Immutable: remapping an
 * endpoint replaces its mapping, so readers need no lock.
 */
export interface Mapping {
  /** In order; empty means all databases. */
  readonly names: readonly string[]
  /** The database of requests that name none: the first name, or `_system`. */
  readonly defaultDatabase: string
}

/**
 * Creates a {@link Mapping} from the database names in a request. Databases that do not exist yet
 * are allowed.
 *
 * @param max maximum number of names; not enforced again for a stored mapping.
 * @throws Failure `bad-database-name` for an invalid name; `bad-parameter` for a duplicate name or
 * too many names.
 */
export function createMapping(names: readonly string[], max = MAPPING_NAMES): Mapping {
  if (names.length > max) {
    const [count, limit] = [names.length, max].map((each) => each.toLocaleString('en'))
    throw new Failure(
      'bad-parameter',
      `The list of databases has ${count} names. At most ${limit} are allowed.`,
      { field: '/databases' },
    )
  }
  const seen = new Set<string>()
  for (const [at, name] of names.entries()) {
    const field = `/databases/${at}`
    requireDatabaseName(name, field)
    if (seen.has(name)) {
      throw new Failure('bad-parameter', `The list of databases contains ${name} twice.`, { field })
    }
    seen.add(name)
  }
  return Object.freeze({
    names: Object.freeze([...names]),
    defaultDatabase: names[0] ?? SYSTEM_DATABASE,
  })
}
