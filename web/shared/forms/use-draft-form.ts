import { type FormErrors, schemaResolver, type UseFormReturnType, useForm } from '@mantine/form'
import { useState } from 'react'
import { usePresence } from '../session/person.ts'
import { draftStorage } from './draft-storage.ts'

export interface DraftFormOptions<T extends object> {
  /** Identifies the stored draft. */
  readonly draft?: string
  /** Fields that cannot be stored, such as files. */
  readonly unstored?: readonly (keyof T)[]
  readonly initialValues: T
  /** Returns the values of a stored draft to begin with; by default they are unchanged. */
  readonly restore?: (stored: T) => T
  /** Schema of the values. The path of an issue is the field that shows its message. */
  readonly schema?: Parameters<typeof schemaResolver>[0]
  /** Fields whose errors depend on each other. A change of one clears the errors of all. */
  readonly groups?: readonly (readonly string[])[]
}

/** A form of `@mantine/form` whose values survive a reload. Pass it to `FormFrame`. */
export interface DraftForm<T extends object> extends UseFormReturnType<T> {
  /** Changes fields and clears their errors and the error of the whole form. */
  readonly change: UseFormReturnType<T>['setValues']
  /** Calls `save` with the values if they match the schema; otherwise shows the errors. */
  readonly submit: (save: (values: T) => void) => void
  /** Replaces the errors and focuses the first. The field `form` is the whole form. */
  readonly showErrors: (errors: FormErrors) => void
  /** Number of times that errors were shown. */
  readonly errorsShown: number
  /** Whether the values are those of a stored draft. */
  readonly restored: boolean
  /** Deletes the stored draft. Call it when the form is submitted. */
  readonly deleteDraft: () => void
  /** Deletes the stored draft and resets the form. */
  readonly discardDraft: () => void
}

/**
 * Returns a form that validates with a schema on submit and stores its values as a draft of the
 * person.
 */
export function useDraftForm<T extends object>(options: DraftFormOptions<T>): DraftForm<T> {
  const { draft, unstored = [], initialValues, restore, schema, groups = [] } = options
  const { person } = usePresence()
  const storage = draft === undefined ? undefined : draftStorage(person.id, draft, initialValues)
  const [stored] = useState(() => {
    const read = storage?.read()
    return read === undefined ? undefined : (restore?.(read) ?? read)
  })
  const [restored, setRestored] = useState(stored !== undefined)
  const [errorsShown, setErrorsShown] = useState(0)
  const validate = schema === undefined ? () => ({}) : schemaResolver(schema, { sync: true })
  const form = useForm<T>({
    initialValues: stored ?? initialValues,
    validate,
    clearInputErrorOnChange: false,
    onValuesChange: (values, before) => {
      const initial = Object.fromEntries(unstored.map((field) => [field, initialValues[field]]))
      storage?.store({ ...values, ...initial })
      const changed = (field: string) => values[field as keyof T] !== before[field as keyof T]
      const related = groups.filter((group) => group.some(changed)).flat()
      for (const field of ['form', ...Object.keys(values).filter(changed), ...related]) {
        form.clearFieldError(field)
      }
    },
  })
  const showErrors = (errors: FormErrors) => {
    form.setErrors(errors)
    if (Object.keys(errors).length > 0) setErrorsShown((times) => times + 1)
  }
  return {
    ...form,
    restored,
    errorsShown,
    showErrors,
    change: form.setValues,
    submit: (save) => {
      const errors = validate(form.getValues())
      if (Object.keys(errors).length > 0) showErrors(errors)
      else save(form.getValues())
    },
    deleteDraft: () => storage?.remove(),
    discardDraft: () => {
      form.setValues(initialValues)
      form.clearErrors()
      storage?.remove()
      setRestored(false)
    },
  }
}
