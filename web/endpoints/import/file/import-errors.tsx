import classes from './import-faults.module.css'
import type { ImportFault } from './import-file.ts'
import { sayMany } from './import-words.ts'

/** So many are listed: with more, the file is another thing altogether. */
const SHOWN = 100

/** What is wrong with a file, all at once, each at its place. */
export function ImportFaults(props: {
  faults: readonly ImportFault[]
  empty: boolean
  /** Goes to a line of the text, where that is shown. */
  onGo: ((line: number) => void) | undefined
}) {
  const { faults, empty, onGo } = props
  if (empty) {
    return (
      <p role="alert" className={classes.head}>
        Nothing is written yet. Paste a list of endpoints, or choose a file.
      </p>
    )
  }
  return (
    <div className={classes.faults}>
      <p role="alert" className={classes.head}>
        Nothing was changed: {sayMany(faults.length, 'fault')} {faults.length === 1 ? 'is' : 'are'}{' '}
        to be mended first.
      </p>
      <ul className={classes.list}>
        {faults.slice(0, SHOWN).map(({ where, line, message }) => (
          <li key={`${where} ${message}`}>
            {onGo === undefined ? (
              <span className={classes.where}>{where}</span>
            ) : (
              <button type="button" className={classes.where} onClick={() => onGo(line)}>
                {where}
              </button>
            )}
            <span>{message}</span>
          </li>
        ))}
      </ul>
      {faults.length > SHOWN && <p className="dim">And {faults.length - SHOWN} more.</p>}
    </div>
  )
}
