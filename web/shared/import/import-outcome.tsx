import { Button } from '@mantine/core'
import type { PropsWithChildren } from 'react'
import { IMPORT_ERRORS, type ImportError } from '../../../server/contract/import.ts'
import { DialogActions } from '../ui/overlay/dialog.tsx'
import { saveFile } from '../ui/text/save-file.ts'
import classes from './import.module.css'
import { formatErrors } from './import-errors.ts'

export interface ImportOutcomeProps {
  /** The counts in words. */
  readonly summary: string
  readonly errors: readonly ImportError[]
  /** Name of the collection or database, for the file of errors. */
  readonly name: string
  /** What the positions of errors count. */
  readonly unit: 'Line' | 'Document'
  readonly onClose: () => void
}

/** Maximum number of errors to show; the others are in the file. */
const MAX_SHOWN = 20

/** Shows the counts and errors of an import. Further buttons are its children. */
export function ImportOutcome(props: PropsWithChildren<ImportOutcomeProps>) {
  const { summary, errors, name, unit, onClose, children } = props
  const save = () => saveFile(`${name}-errors.csv`, formatErrors(errors), 'text/csv')
  return (
    <>
      <p className={classes.result}>{summary}</p>
      {errors.length > 0 && (
        <ul aria-label="Errors" className={classes.errors}>
          {errors.slice(0, MAX_SHOWN).map(({ line, pointer, message }) => (
            <li key={`${line} ${pointer} ${message}`}>
              <span className={classes.position}>
                {unit} {line}
                {pointer !== '' && <span className="mono"> {pointer}</span>}:
              </span>{' '}
              <bdi>{message}</bdi>
            </li>
          ))}
          {errors.length > MAX_SHOWN && <li>and {errors.length - MAX_SHOWN} more</li>}
        </ul>
      )}
      {errors.length === IMPORT_ERRORS && (
        <p className={classes.note}>Only the first {IMPORT_ERRORS} errors are listed.</p>
      )}
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
