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
  const field = member === undefined ? undefined : fields[member]
  if (field === undefined) return { form: error.message }
  // At the field, the message need not name it.
  const reason = error.message.replace(`The body is invalid. ${member}: `, '')
  return { [field]: reason.charAt(0).toUpperCase() + reason.slice(1) }
}
