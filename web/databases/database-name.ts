import { DATABASE_NAME_RULE, isDatabaseName } from '../../server/contract/database.ts'

/**
 * Why a name cannot be that of a new database; undefined: it can, as far as is known here.
 *
 * @param whole whether it is what somebody wants to have, or may still grow.
 */
export function nameFault(
  name: string,
  existing: readonly string[],
  whole: boolean,
): string | undefined {
  if (name === '') return whole ? `The name is missing. ${DATABASE_NAME_RULE}` : undefined
  if (existing.includes(name)) return `There is a database ${name} already.`
  if (isDatabaseName(name)) return undefined
  const bad = /[^A-Za-z0-9_-]/u.exec(name)?.[0]
  if (bad !== undefined) {
    return `${bad === ' ' ? 'A space' : `“${bad}”`} cannot stand in a name. ${DATABASE_NAME_RULE}`
  }
  if (name.length > 64) return `This is ${name.length} characters long. ${DATABASE_NAME_RULE}`
  return DATABASE_NAME_RULE
}
