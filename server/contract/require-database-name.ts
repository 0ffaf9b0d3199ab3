import { Failure } from '../failure.ts'
import { DATABASE_NAME_RULE, isDatabaseName } from './database.ts'

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
