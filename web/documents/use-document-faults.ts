import { useEffect, useRef, useState } from 'react'
import { isSignedOut, NoAnswer } from '../api.ts'
import { DocumentFailure, type Violation } from './document-requests.ts'
import type { TextFault } from './document-text.ts'
import type { JsonEditorHandle } from './json-editor.tsx'

/** What is wrong in a form in which a document is written. */
export interface DocumentFaults {
  /** With the text. */
  readonly text?: TextFault
  readonly collection?: string
  /** With nothing that could be written differently. */
  readonly form?: string
  readonly violations?: readonly Violation[]
}

/** The faults of a form; `raised` counts the times they were shown, `field` is where the text is. */
export function useDocumentFaults() {
  const [{ faults, raised }, setState] = useState<{ faults: DocumentFaults; raised: number }>({
    faults: {},
    raised: 0,
  })
  const field = useRef<JsonEditorHandle>(null)
  useEffect(() => {
    const at = faults.text?.at
    if (raised > 0 && at !== undefined) field.current?.goTo(at)
  }, [raised, faults])
  return {
    faults,
    raised,
    field,
    raise: (next: DocumentFaults) => setState((now) => ({ faults: next, raised: now.raised + 1 })),
    clear: () => setState((now) => ({ ...now, faults: {} })),
  }
}

/** Where a refusal of the server belongs. */
export function placeFailure(error: Error): DocumentFaults {
  if (error instanceof NoAnswer) {
    return {
      form: `${error.message} We do not know whether it was saved. Look before you save again.`,
    }
  }
  const ofText = error instanceof DocumentFailure && [400, 409, 413, 422].includes(error.status)
  if (!ofText || isSignedOut(error)) return { form: error.message }
  return { text: { message: error.message }, violations: error.violations }
}
