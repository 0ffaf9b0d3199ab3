import { DATABASE_NAME_RULE, isDatabaseName, SYSTEM_DATABASE } from '../contract/database.ts'
import { MAPPING_NAMES } from '../contract/endpoint.ts'
import { Failure } from '../failure.ts'

/**
 * Which databases can be reached through an endpoint (seed 000, "Database mapping rules"). Never
 * changes: remapping an endpoint puts another one in its place, so it is read without a lock.
 */
export interface Mapping {
  /** In order; empty means every database. */
  readonly names: readonly string[]
  /** Where a request goes that names no database: the first name, or `_system`. */
  readonly defaultDatabase: string
}

/**
 * Makes a {@link Mapping} of names as they were sent.
 *
 * @param most how many there may be; those of a stored mapping are not counted again.
 * @throws Failure `bad-database-name` for a name that no database can have, `bad-parameter` for a
 * name that stands twice, or for too many names. Databases that do not exist yet may be named.
 */
export function createMapping(names: readonly string[], most = MAPPING_NAMES): Mapping {
  if (names.length > most) {
    const [count, limit] = [names.length, most].map((each) => each.toLocaleString('en'))
    throw new Failure(
      'bad-parameter',
      `The list of databases has ${count} names, at most ${limit}.`,
    )
  }
  const seen = new Set<string>()
  for (const name of names) {
    if (!isDatabaseName(name)) {
      throw new Failure(
        'bad-database-name',
        `${JSON.stringify(name.slice(0, 64))} is no database name. ${DATABASE_NAME_RULE}`,
      )
    }
    if (seen.has(name)) {
      throw new Failure('bad-parameter', `The list of databases names ${name} twice.`)
    }
    seen.add(name)
  }
  return Object.freeze({
    names: Object.freeze([...names]),
    defaultDatabase: names[0] ?? SYSTEM_DATABASE,
  })
}

/** Whether a mapping lets a database through. Says nothing about whether the database exists. */
export const reaches = (mapping: Mapping, database: string): boolean =>
  mapping.names.length === 0 || mapping.names.includes(database)
