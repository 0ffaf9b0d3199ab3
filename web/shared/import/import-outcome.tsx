import { Button } from '@mantine/core'
import type { PropsWithChildren } from 'react'
import { DialogActions } from '../../ui/overlay/dialog.tsx'
import { saveFile } from '../../ui/text/save-file.ts'
import classes from './import.module.css'
import { ErrorList, type ListedError } from './import-errors.tsx'

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
