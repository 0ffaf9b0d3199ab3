import { valueAt } from '../../../server/contract/query/field-path.ts'
import classes from '../../shared/import/import.module.css'
import { formatCell } from '../model/format-cell.ts'
import type { Preview } from './preview.ts'

/** Shows the first documents of a source, and the types of their fields. */
export function ImportPreview({ preview }: { preview: Preview }) {
  const { fields, documents, warning } = preview
  return (
    <>
      {documents.length > 0 && (
        <>
          <p className={classes.note}>The first documents, and the types of their fields</p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
          <div className={classes.scroller} tabIndex={0}>
            <table className={classes.table}>
              <thead>
                <tr>
                  {fields.map(({ field, types }) => (
                    <th key={field} scope="col">
                      <bdi>{field}</bdi>
                      <span>{types}</span>
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {documents.map((document, at) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: documents may have no id yet
                  <tr key={at}>
                    {fields.map(({ field }) => {
                      const { text, kind } = formatCell(valueAt(document, [field]))
                      return (
                        <td key={field} dir={kind === 'text' ? 'auto' : undefined}>
                          {text}
                        </td>
                      )
                    })}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
      {warning !== undefined && <p className="warning">{warning}</p>}
    </>
  )
}
