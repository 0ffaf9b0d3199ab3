import type { Scope } from '../contract/access/scope.ts'
import { requireDatabaseName } from '../contract/database.ts'
import { Failure } from '../failure.ts'

/**
 * Returns the scope of a request without repeated names.
 *
 * @throws Failure `bad-database-name`; `bad-parameter` if it is empty.
 */
export function parseScopeInput(input: Scope): Scope {
  for (const [at, name] of input?.entries() ?? []) requireDatabaseName(name, `/databases/${at}`)
  if (input?.length === 0) {
    throw new Failure(
      'bad-parameter',
      'databases: list at least one name, or omit the field for all databases.',
      { field: '/databases' },
    )
  }
  return input && [...new Set(input)]
}
