import { type RefObject, useEffect, useRef, useState } from 'react'
import * as z from 'zod/mini'
import type { Violation } from '../../server/contract/schema.ts'
import { ApiFailure, isSignedOut, NoResponse } from '../api/client.ts'
import {
  type DraftForm,
  type DraftFormOptions,
  useDraftForm,
} from '../shared/forms/use-draft-form.ts'
import type { JsonEditorHandle } from './editor/json-editor.tsx'
import { documentError, schemaError, syntaxErrorAt } from './editor/syntax-error.ts'

const jsonText = (validate: (text: string) => string | undefined) =>
  z.string().check(
    z.superRefine((text, issues) => {
      const message = validate(text)
      if (message !== undefined) issues.addIssue(message)
    }),
  )

/** The schema of a document as text. */
export const documentText = jsonText(documentError)

/** The schema of a JSON Schema as text. */
export const schemaText = jsonText(schemaError)

/** A form whose field `text` is a JSON text in an editor. */
export interface JsonForm<T extends { readonly text: string }> extends DraftForm<T> {
  /** The editor. A syntax error that is shown moves its cursor. */
  readonly editor: RefObject<JsonEditorHandle | null>
  /** The violations of a schema that the server found in the text. */
  readonly violations: readonly Violation[]
  /** Shows an error of the server at the part of the form that it belongs to. */
  readonly showFailure: (error: Error) => void
}

export function useJsonForm<T extends { readonly text: string }>(
  options: DraftFormOptions<T>,
): JsonForm<T> {
  const form = useDraftForm(options)
  const { errors, errorsShown } = form
  const editor = useRef<JsonEditorHandle>(null)
  const [violations, setViolations] = useState<readonly Violation[]>([])
  const at = errors.text === undefined ? undefined : syntaxErrorAt(form.values.text)
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once each time that errors are shown
  useEffect(() => {
    if (errorsShown > 0 && at !== undefined) editor.current?.goTo(at)
  }, [errorsShown])
  return {
    ...form,
    editor,
    violations: errors.text === undefined ? NONE : violations,
    showFailure: (error) => {
      const failure = toJsonFormErrors(error)
      setViolations(failure.violations)
      form.showErrors(failure.errors)
    },
  }
}

const NONE: readonly Violation[] = []

interface JsonFormErrors {
  readonly errors: { readonly text: string } | { readonly form: string }
  readonly violations: readonly Violation[]
}

/** Assigns an error of the server to the text or to the whole form. */
export function toJsonFormErrors(error: Error): JsonFormErrors {
  if (error instanceof NoResponse) {
    const form = `${error.message} The change may or may not have been saved. Check before you save again.`
    return { errors: { form }, violations: NONE }
  }
  const ofText = error instanceof ApiFailure && [400, 409, 413, 422].includes(error.status)
  if (!ofText || isSignedOut(error)) return { errors: { form: error.message }, violations: NONE }
  return { errors: { text: error.message }, violations: error.violations }
}
