import type { FormErrors } from '@mantine/form'
import { NoResponse } from '../../api/client.ts'
import { toFormErrors } from '../../shared/forms/to-form-errors.ts'

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
