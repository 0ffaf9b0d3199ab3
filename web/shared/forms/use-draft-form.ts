import { type FormErrors, schemaResolver, type UseFormReturnType, useForm } from '@mantine/form'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { usePresence } from '../../api/session/person.ts'
import type { DraftOffer } from '../../ui/form/draft-notice.tsx'
import { useLatest } from '../../ui/use-latest.ts'
import { pageOf } from '../use-dialog-navigation.ts'
import { draftStorage } from './draft-storage.ts'

export interface DraftFormOptions<T extends object> {
  /** Identifies the stored draft. */
  readonly draft?: string
  /** Fields that cannot be stored, such as files. */
  readonly unstored?: readonly (keyof T)[]
  readonly initialValues: T
  /** Returns the values of a stored draft to restore; by default they are unchanged. */
  readonly restore?: (stored: T) => T
  /** Schema of the values. The path of an issue is the field that shows its message. */
  readonly schema?: Parameters<typeof schemaResolver>[0]
  /** Fields whose errors depend on each other. A change of one clears the errors of all. */
  readonly groups?: readonly (readonly string[])[]
}

/**
 * A form of `@mantine/form` whose values survive a reload. Pass it to `FormFrame`, which offers to
 * restore them.
 */
export interface DraftForm<T extends object> extends UseFormReturnType<T> {
  /** Calls `save` with the values if they match the schema; otherwise shows the errors. */
  readonly submit: (save: (values: T) => void) => void
  /** Replaces the errors and focuses the first. The field `form` is the whole form. */
  readonly showErrors: (errors: FormErrors) => void
  /** Number of times that errors were shown. */
  readonly errorsShown: number
  readonly offer: DraftOffer | undefined
  /** The values that were restored. */
  readonly restored: T | undefined
  /** Deletes the stored draft. Call it when the form is submitted. */
  readonly deleteDraft: () => void
  /** Deletes the stored draft and resets the form. */
  readonly discardDraft: () => void
  /** Keeps the stored draft when the form is closed, so that the next one offers to restore it. */
  readonly keepDraft: () => void
}

/**
 * Returns a form that validates with a schema on submit and stores its values as a draft of the
 * person. Closing the form, which changes the URL, deletes the draft unless a save is pending. The
 * draft of a form that is removed for another reason, such as a new sign-in, stays.
 */
export function useDraftForm<T extends object>(options: DraftFormOptions<T>): DraftForm<T> {
  const { draft, unstored = [], initialValues, restore, schema, groups = [] } = options
  const { person } = usePresence()
  const { history } = useRouter()
  const storage = draft === undefined ? undefined : draftStorage(person.id, draft, initialValues)
  const [stored] = useState(() => {
    const read = storage?.read()
    return read && { ...read, values: restore?.(read.values) ?? read.values }
  })
  const [isOffered, setOffered] = useState(stored !== undefined)
  const [restored, setRestored] = useState<T>()
  const [errorsShown, setErrorsShown] = useState(0)
  const isKept = useRef(false)
  const validate = schema === undefined ? () => ({}) : schemaResolver(schema, { sync: true })
  const form = useForm<T>({
    initialValues,
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
  const onClose = useLatest((opensPage: boolean) => {
    if (isKept.current) return
    if (opensPage) storage?.leave()
    else storage?.remove()
  })
  useEffect(() => {
    // The search and the shortcuts, which open over a form, are fragments.
    const here = () => history.location.href.split('#', 1)[0] ?? ''
    const opened = here()
    return () => {
      if (here() !== opened) onClose.current(pageOf(here()) !== pageOf(opened))
    }
  }, [history, onClose])
  const showErrors = (errors: FormErrors) => {
    form.setErrors(errors)
    isKept.current = false
    if (Object.keys(errors).length > 0) setErrorsShown((times) => times + 1)
  }
  const deleteDraft = () => {
    isKept.current = false
    storage?.remove()
  }
  return {
    ...form,
    offer:
      stored !== undefined && isOffered
        ? {
            at: stored.at,
            restore: () => {
              form.setValues(stored.values)
              setRestored(stored.values)
              setOffered(false)
            },
            discard: () => {
              storage?.remove()
              setOffered(false)
            },
          }
        : undefined,
    restored,
    errorsShown,
    showErrors,
    submit: (save) => {
      const errors = validate(form.getValues())
      if (Object.keys(errors).length > 0) return showErrors(errors)
      // If the save fails after the form was closed, its report reopens the form.
      isKept.current = true
      save(form.getValues())
    },
    deleteDraft,
    discardDraft: () => {
      form.setValues(initialValues)
      form.clearErrors()
      deleteDraft()
      setOffered(false)
      setRestored(undefined)
    },
    keepDraft: () => {
      isKept.current = true
    },
  }
}
