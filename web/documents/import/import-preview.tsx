import { useEffect, useState } from 'react'
import { valueAt } from '../../../server/contract/query/field-path.ts'
import classes from '../../shared/import/import.module.css'
import { UNREADABLE } from '../../shared/import/source-error.ts'
import { formatCell } from '../model/format-cell.ts'
import { PREVIEW_BYTES, type Preview, previewSource } from './preview.ts'
import type { ImportFormat } from './read-source.ts'

export interface ImportPreviewProps {
  readonly source: Blob
  /** The pasted text; undefined if the source is a file. */
  readonly text: string | undefined
  readonly format: ImportFormat
  /** Why the import failed; empty if it did not. */
  readonly failure: string
}

/** Shows the first documents of a source and the types of their fields. */
export function ImportPreview({ source, text, format, failure }: ImportPreviewProps) {
  const [preview, setPreview] = useState<Preview>()
  const file = text === undefined ? source : undefined
  useEffect(() => {
    let isCurrent = true
    const isWhole = file === undefined || file.size <= PREVIEW_BYTES
    const reading =
      file === undefined
        ? Promise.resolve(new TextEncoder().encode(text))
        : file
            .slice(0, PREVIEW_BYTES)
            .arrayBuffer()
            .then((buffer) => new Uint8Array(buffer))
    reading.then(
      (begin) => isCurrent && setPreview(previewSource(begin, format, isWhole)),
      () => isCurrent && setPreview(FAILED),
    )
    return () => {
      isCurrent = false
    }
  }, [file, text, format])
  if (preview === undefined) return null
  const { fields, documents, error } = preview
  return (
    <section aria-label="Preview">
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
      {/* The form shows the reason why the import failed. */}
      {error !== undefined && !failure.startsWith(error) && (
        <p className={classes.error}>{error}</p>
      )}
    </section>
  )
}

const FAILED: Preview = { fields: [], documents: [], error: UNREADABLE }
