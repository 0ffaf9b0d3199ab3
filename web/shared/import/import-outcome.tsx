import { Button } from '@mantine/core'
import type { PropsWithChildren } from 'react'
import { DialogActions } from '../../ui/overlay/dialog.tsx'
import { saveFile } from '../../ui/text/save-file.ts'
import classes from './import.module.css'

export interface ImportOutcomeProps<E extends object> {
  /** The counts in words. */
  readonly summary: string
  readonly errors: readonly E[]
  readonly listed: (error: E) => ListedError
  /** What the list of errors does not contain. */
  readonly note?: string | false
  /** Name of the file of errors. */
  readonly name: string
  readonly onClose: () => void
}

/** Maximum number of errors to show; the others are in the file. */
const MAX_SHOWN = 20

/**
 * Shows the counts and errors of an import. Further buttons are its children. Undo is in the toast.
 */
export function ImportOutcome<E extends object>(props: PropsWithChildren<ImportOutcomeProps<E>>) {
  const { summary, errors, listed, note, name, onClose, children } = props
  const save = () => saveFile(`${name}-errors.csv`, formatErrors(errors), 'text/csv')
  return (
    <>
      <p className={classes.result}>{summary}</p>
      <ErrorList errors={errors.map(listed)} max={MAX_SHOWN} />
      {note && <p className={classes.note}>{note}</p>}
      <DialogActions>
        {errors.length > 0 && (
          <Button variant="default" onClick={save}>
            Download errors
          </Button>
        )}
        {children}
        <Button variant="filled" onClick={onClose} autoFocus>
          Close
        </Button>
      </DialogActions>
    </>
  )
}

/** Returns errors, whose members are numbers and texts, as CSV. */
export function formatErrors(errors: readonly object[]): string {
  const rows = errors.map((error) => Object.values(error).map(formatCell).join(','))
  return [Object.keys(errors[0] ?? {}).join(','), ...rows].map((row) => `${row}\r\n`).join('')
}

const formatCell = (value: unknown) =>
  typeof value === 'number' ? value : `"${String(value).replaceAll('"', '""')}"`

/** An error of a source or of its import. */
export interface ListedError {
  /** The position in words, such as "Line 12". */
  readonly where?: string | undefined
  /** The line of the source, if the position names one. Starts at 1. */
  readonly line?: number
  /** A JSON Pointer or an address. */
  readonly path?: string
  readonly message: string
}

/** Lists errors with their positions. `onGo` moves to a line of the source. */
export function ErrorList(props: {
  errors: readonly ListedError[]
  max: number
  onGo?: ((line: number) => void) | undefined
}) {
  const { errors, max, onGo } = props
  if (errors.length === 0) return null
  return (
    <ul aria-label="Errors" className={classes.errors}>
      {errors.slice(0, max).map(({ where, line, path, message }) => (
        <li key={`${where} ${path} ${message}`}>
          {where !== undefined &&
            (onGo === undefined || line === undefined ? (
              <span className={classes.position}>{where}</span>
            ) : (
              <button type="button" className="link-button" onClick={() => onGo(line)}>
                {where}
              </button>
            ))}
          {where !== undefined && path && ' '}
          {path && <span className={`mono ${classes.position}`}>{path}</span>}
          {(where !== undefined || path) && ': '}
          <bdi>{message}</bdi>
        </li>
      ))}
      {errors.length > max && <li>and {errors.length - max} more</li>}
    </ul>
  )
}
