import { useEffect, useState } from 'react'
import type { CsvTypes, OnConflict } from '../../../server/contract/import.ts'
import { valueAt } from '../../../server/contract/query/field-path.ts'
import classes from '../../shared/import/import.module.css'
import { UNREADABLE } from '../../shared/import/source-error.ts'
import { formatCell } from '../model/format-cell.ts'
import { PREVIEW_BYTES, type Preview, previewSource } from './preview.ts'
import type { ImportFormat } from './read-source.ts'

/** Maximum number of errors to show. */
const MAX_SHOWN = 20

export interface PreviewInput {
  /** Undefined if no source is chosen. */
  readonly source: Blob | undefined
  /** The pasted text; undefined if the source is a file. */
  readonly text: string | undefined
  /** Undefined until it is detected. */
  readonly format: ImportFormat | undefined
  readonly onConflict: OnConflict
  readonly types: CsvTypes
}

/** Returns the preview of a source; undefined until its first bytes are read. */
export function usePreview(input: PreviewInput): Preview | undefined {
  const { source, text, format, onConflict, types } = input
  const [preview, setPreview] = useState<Preview>()
  const file = text === undefined ? source : undefined
  const isChosen = source !== undefined
  useEffect(() => {
    let isCurrent = true
    if (!isChosen || format === undefined) {
      setPreview(undefined)
      return
    }
    const isWhole = file === undefined || file.size <= PREVIEW_BYTES
    const reading =
      file === undefined
        ? Promise.resolve(new TextEncoder().encode(text))
        : file
            .slice(0, PREVIEW_BYTES)
            .arrayBuffer()
            .then((buffer) => new Uint8Array(buffer))
    reading.then(
      (begin) =>
        isCurrent && setPreview(previewSource(begin, { format, isWhole, onConflict, types })),
      () => isCurrent && setPreview(FAILED),
    )
    return () => {
      isCurrent = false
    }
  }, [file, text, format, onConflict, types, isChosen])
  return preview
}

export interface ImportPreviewProps {
  readonly preview: Preview
  /** Why the import failed; empty if it did not. */
  readonly failure: string
}

/** Shows the first documents of a source, the types of their fields, and their errors. */
export function ImportPreview({ preview, failure }: ImportPreviewProps) {
  const { fields, documents, errors, warning } = preview
  // The form shows the reason why the import failed.
  const shown = errors.filter((error) => !failure.startsWith(error))
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
      {warning !== undefined && <p className={`warning ${classes.warning}`}>{warning}</p>}
      {shown.length > 0 && (
        <ul aria-label="Errors" className={classes.error}>
          {shown.slice(0, MAX_SHOWN).map((error) => (
            <li key={error}>{error}</li>
          ))}
          {shown.length > MAX_SHOWN && <li>and {shown.length - MAX_SHOWN} more</li>}
        </ul>
      )}
    </section>
  )
}

const FAILED: Preview = {
  fields: [],
  documents: [],
  errors: [UNREADABLE],

  isEmpty: false,
}
