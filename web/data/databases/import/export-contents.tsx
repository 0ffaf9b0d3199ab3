import classes from '../../../shared/import/import.module.css'
import { formatCount } from '../../../ui/text/format-number.ts'
import type { ExportPreview } from './preview-export.ts'

export interface ExportContentsProps {
  readonly preview: ExportPreview
  /** The database to import into, and its collections that contain documents. */
  readonly target: string
  readonly stored: readonly string[]
}

/** Maximum number of collections to show; the others are counted. */
const MAX_SHOWN = 8

/** Shows the database that a file contains, and the collections at its beginning. */
export function ExportContents({ preview, target, stored }: ExportContentsProps) {
  const { database, collections, total } = preview
  if (database === undefined) return null
  const shown = collections.slice(0, MAX_SHOWN)
  const others = (total?.collections ?? collections.length) - shown.length
  return (
    <>
      <p className={classes.note}>
        Export of the database <bdi className="mono">{database}</bdi>
        {total !== undefined &&
          `: ${count(total.collections, 'collection')}, ${count(total.documents, 'document')}`}
      </p>
      {shown.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        <div className={classes.scroller} tabIndex={0}>
          <table className={classes.table}>
            <thead>
              <tr>
                <th scope="col">Collection</th>
                <th scope="col">Schema</th>
                <th scope="col">Indexes</th>
                {stored.length > 0 && (
                  <th scope="col">
                    In <bdi className="mono">{target}</bdi>
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {shown.map(({ name, hasSchema, indexes }, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a malformed file may repeat a name
                <tr key={at}>
                  <th scope="row" className="mono">
                    {name}
                  </th>
                  <td>{hasSchema ? 'Yes' : '–'}</td>
                  <td>{indexes === 0 ? '–' : indexes}</td>
                  {stored.length > 0 && <td>{stored.includes(name) ? 'Exists' : 'New'}</td>}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {shown.length > 0 && others > 0 && (
        <p className={classes.note}>and {formatCount(others)} more</p>
      )}
    </>
  )
}

const count = (n: number, word: string) => `${formatCount(n)} ${word}${n === 1 ? '' : 's'}`
