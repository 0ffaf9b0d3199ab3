import type { FormErrors } from '@mantine/form'
import { ApiFailure } from '../../api/client.ts'
import { capitalize } from '../../ui/text/capitalize.ts'

/** Form fields by the member of the request body. */
type FormFields = Readonly<Record<string, string>>

/**
 * Assigns the server's error messages to form fields, or to the whole form.
 *
 * @param fields the form field of each member of the request body, which `field` of an error names
 *   with a JSON Pointer.
 */
export function toFormErrors(error: Error, fields: FormFields): FormErrors {
  if (!(error instanceof ApiFailure)) return { form: error.message }
  const { errors, message } = error
  if (errors.length === 0) return { [formFieldOf(error.field, fields)]: message }
  const formErrors: FormErrors = {}
  for (const { field, reason } of errors) {
    const formField = formFieldOf(field, fields)
    // Only the message of the whole request names a member that the form does not have.
    formErrors[formField] ??= formField === 'form' ? message : toSentence(reason)
  }
  return formErrors
}

const formFieldOf = (pointer: string | undefined, fields: FormFields): string =>
  fields[pointer?.split('/')[1] ?? ''] ?? 'form'

const toSentence = (reason: string) => `${capitalize(reason)}.`
