import { formatPlural } from '../format-import.ts'
import classes from './import-errors.module.css'
import type { ImportError } from './import-file.ts'

/** Maximum number of errors listed. A file with more is probably not a list of endpoints. */
const MAX_ERRORS = 100

/** Lists all errors of a file with their positions. */
export function ImportErrors(props: {
  errors: readonly ImportError[]
  empty: boolean
  /** Moves to a line of the text, if the text is shown. */
  onGo: ((line: number) => void) | undefined
}) {
  const { errors, empty, onGo } = props
  if (empty) {
    return (
      <p role="alert" className={classes.head}>
        Paste a list of endpoints or choose a file.
      </p>
    )
  }
  return (
    <div className={classes.errors}>
      <p role="alert" className={classes.head}>
        Nothing was imported. Fix {formatPlural(errors.length, 'error')} first.
      </p>
      <ul className={classes.list}>
        {errors.slice(0, MAX_ERRORS).map(({ where, line, message }) => (
          <li key={`${where} ${message}`}>
            {onGo === undefined ? (
              <span className={classes.where}>{where}</span>
            ) : (
              <button
                type="button"
                className={`link-button ${classes.where}`}
                onClick={() => onGo(line)}
              >
                {where}
              </button>
            )}
            <span>{message}</span>
          </li>
        ))}
      </ul>
      {errors.length > MAX_ERRORS && <p className="dim">And {errors.length - MAX_ERRORS} more.</p>}
    </div>
  )
}
