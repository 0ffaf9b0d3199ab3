import { type RefObject, useId, useMemo } from 'react'
import type { Violation } from '../../../server/contract/schema.ts'
import type { JsonForm } from '../use-json-form.ts'
import { JsonEditor, type JsonEditorHandle, type TextError } from './json-editor.tsx'
import classes from './json-field.module.css'
import { lineAt, pointerRange } from './pointer-range.ts'

export interface JsonFieldProps {
  readonly form: JsonForm<{ readonly text: string }>
  /** Label, such as "Document as JSON". */
  readonly label: string
  readonly note: string
  /** Whether it receives the focus when its dialog opens. */
  readonly first: boolean
}

/** Maximum violations to list. */
const MAX_SHOWN = 20

/** JSON editor with its errors, marked in the text and listed below it. */
export function JsonField(props: JsonFieldProps) {
  const { form, label, note, first } = props
  const { editor, violations } = form
  const { text } = form.values
  const error = form.errors.text
  const id = useId()
  const placed = useLocatedViolations(text, violations)
  // A single violation is part of the error message.
  const alone = placed.length === 1 ? placed[0] : undefined
  return (
    <div className={classes.part}>
      <span className={classes.label} aria-hidden="true">
        {label}
      </span>
      <JsonEditor
        handle={editor}
        label={label}
        text={text}
        marks={placed}
        invalid={error !== undefined}
        describedBy={`${id}-error ${id}-note`}
        first={first}
        onChange={(next) => form.setValues({ text: next })}
      />
      <div id={`${id}-error`} role="alert" className={classes.error}>
        {error !== undefined && (
          <p>
            {alone !== undefined && <LineButton mark={alone} text={text} editor={editor} />}{' '}
            {/* The message of the server repeats the first violation. */}
            {placed.length > 1 ? `The text has ${placed.length} errors:` : error}
          </p>
        )}
        {alone === undefined && placed.length > 0 && (
          <ul>
            {placed.slice(0, MAX_SHOWN).map((mark) => (
              <li key={`${mark.pointer} ${mark.message}`}>
                <LineButton mark={mark} text={text} editor={editor} />{' '}
                {mark.pointer === '' ? (
                  'The document'
                ) : (
                  <span className="mono">{mark.pointer}</span>
                )}{' '}
                {mark.message}
              </li>
            ))}
            {placed.length > MAX_SHOWN && <li>and {placed.length - MAX_SHOWN} more</li>}
          </ul>
        )}
      </div>
      <p id={`${id}-note`} className={classes.note}>
        {note} Press Tab or Esc to leave the editor.
      </p>
    </div>
  )
}

interface Placed extends TextError {
  readonly pointer: string
}

/** Button with a violation's line number, which moves the cursor there. */
function LineButton(props: {
  mark: TextError
  text: string
  editor: RefObject<JsonEditorHandle | null>
}) {
  const { mark, text, editor } = props
  return (
    <button type="button" className="link-button" onClick={() => editor.current?.goTo(mark.from)}>
      Line {lineAt(text, mark.from)}
    </button>
  )
}

/**
 * Returns the violations with their ranges. Editing clears them, so `text` is what was submitted.
 */
const useLocatedViolations = (text: string, violations: readonly Violation[]): readonly Placed[] =>
  useMemo(() => {
    if (violations.length === 0) return NO_VIOLATIONS
    return violations.map((each) => ({ ...each, ...pointerRange(text, each.pointer) }))
  }, [text, violations])

const NO_VIOLATIONS: readonly Placed[] = []
