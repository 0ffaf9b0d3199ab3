import * as z from 'zod/mini'
import { Failure } from '../failure.ts'

/** The database that always exists, contains the administration, and cannot be dropped. */
export const SYSTEM_DATABASE = '_system'

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

/** The rule of {@link isDatabaseName}, as a message. */
export const DATABASE_NAME_RULE =
  'A database name begins with a letter and has up to 64 letters, digits, “_” and “-”.'

/**
 * Returns whether a database may have this name: {@link DATABASE_NAME_RULE}, or `_system`. Names
 * are case-sensitive.
 */
export const isDatabaseName = (name: string): boolean => name === SYSTEM_DATABASE || NAME.test(name)

/** Names of databases, as stored. */
export const databaseNames = z.array(z.string())

/** Body of `POST /_api/database`. Unknown keys are ignored. */
export const databaseInput = z.object({ name: z.string() })

/** Response of `GET /_api/database`: every database, `_system` first, then by name. */
export const databaseList = z.array(z.object({ name: z.string() }))

/**
 * Returns whether the mapping of an endpoint includes a database. The database need not exist.
 *
 * @param names the names of the mapping; empty for all databases.
 */
export const includesDatabase = (names: readonly string[], database: string): boolean =>
  names.length === 0 || names.includes(database)

/**
 * Checks that a database may have a name.
 *
 * @param field JSON Pointer of the name in the body.
 * @throws Failure `bad-database-name`
 */
export function requireDatabaseName(name: string, field: string): void {
  if (isDatabaseName(name)) return
  throw new Failure(
    'bad-database-name',
    `${JSON.stringify(name.slice(0, 64))} is not a valid database name. ${DATABASE_NAME_RULE}`,
    { field },
  )
}
