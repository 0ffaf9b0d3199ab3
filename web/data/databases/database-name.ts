import type { FormErrors } from '@mantine/form'
import { DATABASE_NAME_RULE, isDatabaseName } from '../../../server/contract/database.ts'
import { NoResponse } from '../../api/client.ts'
import { toFormErrors } from '../../shared/forms/to-form-errors.ts'

/**
 * Returns why a name is invalid for a new database; undefined if it is valid as far as the browser
 * can tell.
 *
 * @param whole whether the name is complete. While the user types, an empty name is no error.
 */
export function nameError(
  name: string,
  existing: readonly string[],
  whole: boolean,
): string | undefined {
  if (name === '') return whole ? `Enter a name. ${DATABASE_NAME_RULE}` : undefined
  if (existing.includes(name)) return `The database ${name} already exists.`
  if (isDatabaseName(name)) return undefined
  const bad = /[^A-Za-z0-9_-]/u.exec(name)?.[0]
  if (bad !== undefined) {
    return `${bad === ' ' ? 'A space' : `“${bad}”`} is not allowed in a name. ${DATABASE_NAME_RULE}`
  }
  if (name.length > 64) return `The name has ${name.length} characters. ${DATABASE_NAME_RULE}`
  return DATABASE_NAME_RULE
}

/**
 * Returns why a database was not created.
 *
 * @param field the form field of its name.
 */
export const createErrors = (error: Error, field: string): FormErrors =>
  error instanceof NoResponse
    ? { form: `${error.message} ${UNKNOWN}` }
    : toFormErrors(error, { name: field })

const UNKNOWN =
  'The database may or may not have been created. Check the list before you try again.'
