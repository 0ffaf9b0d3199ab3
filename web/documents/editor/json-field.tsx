import { type RefObject, useId, useMemo } from 'react'
import type { Violation } from './document-requests.ts'
import { JsonEditor, type JsonEditorHandle, type Mark } from './json-editor.tsx'
import classes from './json-field.module.css'
import { lineAt, pointerRange } from './pointer-range.ts'
import type { DocumentFaults } from './use-document-faults.ts'

/** What a {@link JsonField} holds. */
export interface JsonFieldProps {
  readonly field: RefObject<JsonEditorHandle | null>
  /** "Document as JSON". */
  readonly label: string
  readonly text: string
  readonly note: string
  readonly faults: DocumentFaults
  /** Whether it has the focus when its dialog opens. */
  readonly first: boolean
  readonly onChange: (text: string) => void
}

/** So many violations are listed: with more, the document is another thing altogether. */
const SHOWN = 20

/** Where JSON is written, with what is wrong with it at its place and below. */
export function JsonField(props: JsonFieldProps) {
  const { field, label, text, note, faults, first, onChange } = props
  const id = useId()
  const fault = faults.text
  const placed = usePlaced(text, faults.violations)
  // One alone stands in the sentence.
  const alone = placed.length === 1 ? placed[0] : undefined
  return (
    <div className={classes.part}>
      <span className={classes.label} aria-hidden="true">
        {label}
      </span>
      <JsonEditor
        handle={field}
        label={label}
        text={text}
        marks={placed}
        invalid={fault !== undefined}
        describedBy={`${id}-fault ${id}-note`}
        first={first}
        onChange={onChange}
      />
      <div id={`${id}-fault`} role="alert" className={classes.fault}>
        {fault !== undefined && (
          <p>
            {alone !== undefined && <Place mark={alone} text={text} field={field} />}{' '}
            {fault.message}
          </p>
        )}
        {alone === undefined && placed.length > 0 && (
          <ul>
            {placed.slice(0, SHOWN).map((mark) => (
              <li key={`${mark.pointer} ${mark.message}`}>
                <Place mark={mark} text={text} field={field} />{' '}
                {mark.pointer === '' ? (
                  'The document'
                ) : (
                  <span className="mono">{mark.pointer}</span>
                )}{' '}
                {mark.message}
              </li>
            ))}
            {placed.length > SHOWN && <li>and {placed.length - SHOWN} more</li>}
          </ul>
        )}
      </div>
      <p id={`${id}-note`} className={classes.note}>
        {note} Tab and Esc leave the text.
      </p>
    </div>
  )
}

interface Placed extends Mark {
  readonly pointer: string
}

/** The line of a fault, and the way there. */
function Place(props: { mark: Mark; text: string; field: JsonFieldProps['field'] }) {
  const { mark, text, field } = props
  return (
    <button type="button" className={classes.place} onClick={() => field.current?.goTo(mark.from)}>
      Line {lineAt(text, mark.from)}
    </button>
  )
}

/** Where in the text the violations are: writing on takes them away, so it is the text that was sent. */
const usePlaced = (text: string, violations: readonly Violation[] = NONE): readonly Placed[] =>
  useMemo(() => {
    if (violations.length === 0) return NOWHERE
    return violations.map((each) => ({ ...each, ...pointerRange(text, each.pointer) }))
  }, [text, violations])

const NONE: readonly Violation[] = []
const NOWHERE: readonly Placed[] = []
