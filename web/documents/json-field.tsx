import { type RefObject, useId } from 'react'
import type { Violation } from './document-requests.ts'
import classes from './json-field.module.css'

/** What a {@link JsonField} holds. */
export interface JsonFieldProps {
  readonly field: RefObject<HTMLTextAreaElement | null>
  readonly text: string
  readonly note: string
  readonly fault: string | undefined
  readonly violations: readonly Violation[]
  /** Whether it has the focus when its dialog opens. */
  readonly first: boolean
  readonly onChange: (text: string) => void
}

/** So many violations are listed: with more, the document is another thing altogether. */
const SHOWN = 20

/** Where a document is written as JSON, with what is wrong with it below. */
export function JsonField(props: JsonFieldProps) {
  const { field, text, note, fault, violations, first, onChange } = props
  const id = useId()
  return (
    <div className={classes.part}>
      <label htmlFor={id} className={classes.label}>
        Document as JSON
      </label>
      <textarea
        ref={field}
        id={id}
        className={`mono ${classes.text}`}
        rows={16}
        spellCheck={false}
        autoComplete="off"
        autoCapitalize="off"
        aria-invalid={fault === undefined ? undefined : 'true'}
        aria-describedby={`${id}-fault ${id}-note`}
        data-autofocus={first || undefined}
        value={text}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      <div id={`${id}-fault`} role="alert" className={classes.fault}>
        {fault !== undefined && <p>{fault}</p>}
        {/* One alone stands in the sentence above. */}
        {violations.length > 1 && (
          <ul>
            {violations.slice(0, SHOWN).map(({ pointer, message }) => (
              <li key={`${pointer} ${message}`}>
                {pointer === '' ? 'The document' : <span className="mono">{pointer}</span>}{' '}
                {message}
              </li>
            ))}
            {violations.length > SHOWN && <li>and {violations.length - SHOWN} more</li>}
          </ul>
        )}
      </div>
      <p id={`${id}-note`} className={classes.note}>
        {note}
      </p>
    </div>
  )
}
