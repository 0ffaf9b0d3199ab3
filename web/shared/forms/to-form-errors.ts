import type { FormErrors } from '@mantine/form'
import { ApiFailure } from '../../app/api.ts'

/**
 * Assigns the server's error message to a form field, or to the whole form.
 *
 * @param fields the form field of each member of the request body, which `field` of the error names
 *   with a JSON Pointer.
 */
export function toFormErrors(error: Error, fields: Readonly<Record<string, string>>): FormErrors {
  const member = error instanceof ApiFailure ? error.field?.split('/')[1] : undefined
  return { [(member === undefined ? undefined : fields[member]) ?? 'form']: error.message }
}
