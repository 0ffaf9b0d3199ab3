import { useState } from 'react'
import type { DocumentFields } from '../../../server/contract/document.ts'
import { useNarrowScreen } from '../../shared/ui/layout/use-narrow-screen.ts'
import { RecordTable } from '../../shared/ui/table/record-table.tsx'
import { SortHeadCell } from '../../shared/ui/table/sort-head-cell.tsx'
import base from '../../shared/ui/table/table.module.css'
import { COLUMN_WIDTH, clamp, type FieldColumn } from '../model/columns.ts'
import { valueAt } from '../model/field-path.ts'
import { formatCell } from '../model/format-cell.ts'
import type { SortField } from '../model/sort.ts'
import { ColumnResizer } from './column-resizer.tsx'
import { DocumentLink } from './document-link.tsx'
import classes from './document-table.module.css'

export interface DocumentTableProps {
  readonly caption: string
  readonly documents: readonly DocumentFields[]
  /** The columns besides the id, and the id if it was resized. */
  readonly columns: readonly FieldColumn[]
  readonly sort: readonly SortField[]
  readonly onSort: (field: string, extend: boolean) => void
  readonly onResize: (field: string, width: number) => void
}

const idOf = ({ id }: DocumentFields) => id

/** Table of documents with a column for each chosen field. The id opens the document. */
export function DocumentTable(props: DocumentTableProps) {
  const narrow = useNarrowScreen()
  if (!narrow) return <WideTable {...props} />
  const { caption, documents, columns } = props
  return (
    <RecordTable
      caption={caption}
      records={documents}
      idOf={idOf}
      columns={[
        { head: 'Id', cell: ({ id }) => <DocumentLink id={id} /> },
        ...columns.filter(isField).map(({ field }) => ({
          head: field,
          cell: (document: DocumentFields) => <Value value={valueAt(document, field)} />,
        })),
      ]}
    />
  )
}

const isField = ({ field }: FieldColumn) => field !== 'id'

function WideTable({ caption, documents, columns, sort, onSort, onResize }: DocumentTableProps) {
  const [dragged, setDragged] = useState<Required<FieldColumn>>()
  const fields = columns.filter(isField).map(({ field }) => field)
  const figures = new Set(fields.filter((field) => isNumeric(documents, field)))
  const widthOf = (field: string) => {
    if (dragged?.field === field) return dragged.width
    const chosen = columns.find((each) => each.field === field)?.width
    if (chosen !== undefined || field === 'id') return chosen ?? COLUMN_WIDTH.id
    return figures.has(field) ? COLUMN_WIDTH.figures : COLUMN_WIDTH.default
  }
  const headOf = (field: string, label: string) => {
    const sorted = sort.find((each) => each.field === field)
    return (
      <SortHeadCell
        key={field}
        label={label}
        width={widthOf(field)}
        className={figures.has(field) ? classes.figures : undefined}
        head={{
          sorted: sorted === undefined ? 'none' : sorted.isDescending ? 'descending' : 'ascending',
          toggle: (extend) => onSort(field, extend),
        }}
      >
        <ColumnResizer
          label={label}
          width={widthOf(field)}
          onResize={(width, done) => {
            setDragged(done ? undefined : { field, width: clamp(width) })
            if (done) onResize(field, width)
          }}
        />
      </SortHeadCell>
    )
  }
  return (
    <div className={classes.scroller}>
      <table
        className={`${base.table} ${classes.table}`}
        style={{ width: ['id', ...fields].reduce((sum, field) => sum + widthOf(field), 0) }}
      >
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {headOf('id', 'Id')}
            {fields.map((field) => headOf(field, field))}
            <td aria-hidden="true" />
          </tr>
        </thead>
        <tbody>
          {documents.map((document) => (
            <tr key={document.id} data-row={document.id} tabIndex={-1}>
              <th scope="row">
                <DocumentLink id={document.id} />
              </th>
              {fields.map((field) => (
                <td key={field} className={figures.has(field) ? classes.figures : undefined}>
                  <Value value={valueAt(document, field)} />
                </td>
              ))}
              <td aria-hidden="true" />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Value({ value }: { value: unknown }) {
  const { text, kind } = formatCell(value)
  return (
    <span className={classes.value} data-kind={kind}>
      {text}
    </span>
  )
}

/** Returns whether the values of a field are numbers, which are right-aligned. */
function isNumeric(documents: readonly DocumentFields[], field: string): boolean {
  const values = documents.map((document) => valueAt(document, field))
  const present = values.filter((value) => value !== undefined)
  return present.length > 0 && present.every((value) => typeof value === 'number')
}
