import { Button } from '@mantine/core'
import { IMPORT_ERRORS, type ImportResult } from '../../../server/contract/import.ts'
import { DialogActions } from '../../shared/ui/overlay/dialog.tsx'
import { saveFile } from '../../shared/ui/text/save-file.ts'
import { describeImport } from './describe-import.ts'
import classes from './import-dialog.module.css'
import { formatErrors } from './import-errors.ts'

export interface ImportOutcomeProps {
  readonly result: ImportResult
  readonly collection: string
  /** Whether the source is a JSON array, whose documents are counted instead of lines. */
  readonly ofArray: boolean
  /** Shows all documents of the collection. */
  readonly onShow: () => void
  readonly onClose: () => void
}

/** Maximum number of errors to show; the others are in the file. */
const MAX_SHOWN = 20

/** Shows the counts and errors of an import. */
export function ImportOutcome(props: ImportOutcomeProps) {
  const { result, collection, ofArray, onShow, onClose } = props
  const { created, replaced, skipped, errors } = result
  const unit = ofArray ? 'Document' : 'Line'
  const save = () => saveFile(`${collection}-errors.csv`, formatErrors(errors), 'text/csv')
  return (
    <>
      <p className={classes.result}>{describeImport(result)}</p>
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
        {created + replaced + skipped > 0 && (
          <Button variant="default" onClick={onShow}>
            Show documents
          </Button>
        )}
        <Button variant="filled" onClick={onClose} autoFocus>
          Close
        </Button>
      </DialogActions>
    </>
  )
}
