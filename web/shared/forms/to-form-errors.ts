import type { FormErrors } from '@mantine/form'
import { ApiFailure } from '../../api/client.ts'
import { capitalize } from '../../ui/text/capitalize.ts'

/** Form fields by the member of the request body. */
type FormFields = Readonly<Record<string, string>>

/**
 * Assigns the server's error messages to form fields, or to the whole form.
 *
 * @param fields the form field of each member of the request body, such as `name` or `tls/clientAuth`.
 *   `field` of an error names it, or a member within, with a JSON Pointer.
 */
export function toFormErrors(error: Error, fields: FormFields): FormErrors {
  if (!(error instanceof ApiFailure)) return { form: error.message }
  const { errors, message } = error
  if (errors.length === 0) return { [formFieldOf(error.field, fields)]: message }
  const formErrors: FormErrors = {}
  for (const { field, reason } of errors) {
    const formField = formFieldOf(field, fields)
    const earlier = formErrors[formField]
    // Only the message of the whole request names a member that the form does not have.
    formErrors[formField] =
      formField === 'form'
        ? message
        : earlier
          ? `${earlier} ${toSentence(reason)}`
          : toSentence(reason)
  }
  return formErrors
}

function formFieldOf(pointer = '', fields: FormFields): string {
  const path = pointer.split('/').slice(1)
  const paths = path.map((_, at) => path.slice(0, at + 1).join('/'))
  return fields[paths.findLast((each) => fields[each] !== undefined) ?? ''] ?? 'form'
}

const toSentence = (reason: string) => `${capitalize(reason)}.`
