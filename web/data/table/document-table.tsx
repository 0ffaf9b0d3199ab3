import { type RefObject, useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react'
import type { DocumentFields } from '../../../server/contract/document.ts'
import type { KeyHandlers } from '../../shared/keys/keys.ts'
import { onKeys, useKeys } from '../../shared/keys/use-keys.ts'
import { type SelectRow, useRowNavigation } from '../../shared/keys/use-row-navigation.ts'
import { useNarrowScreen } from '../../ui/layout/use-narrow-screen.ts'
import { onRowClick } from '../../ui/table/on-row-click.ts'
import { RecordTable } from '../../ui/table/record-table.tsx'
import { SortHeadCell } from '../../ui/table/sort-head-cell.tsx'
import base from '../../ui/table/table.module.css'
import { useLatest } from '../../ui/use-latest.ts'
import {
  COLUMN_WIDTH,
  type FieldColumn,
  fitColumns,
  type PlacedColumn,
  placeColumns,
  resizeColumn,
} from '../model/columns.ts'
import { fieldLabel, valueAt } from '../model/field-path.ts'
import type { SortField } from '../model/sort.ts'
import { SelectionCheckbox } from '../selection/selection-checkbox.tsx'
import { ColumnResizer, RESIZE_STEP } from './column-resizer.tsx'
import { CellValue, DocumentLink, DocumentRow, isFigures, RowCheckbox } from './document-row.tsx'
import classes from './document-table.module.css'

export interface DocumentTableProps {
  readonly caption: string
  readonly documents: readonly DocumentFields[]
  /** The documents of all pages loaded so far, so that a column looks the same on each page. */
  readonly seen: readonly DocumentFields[]
  /** The columns besides the id, and the id if it was resized. */
  readonly columns: readonly FieldColumn[]
  readonly sort: readonly SortField[]
  /** Whether other documents are being loaded. */
  readonly stale: boolean
  readonly onSort: (field: string, extend: boolean) => void
  readonly onResize: (columns: readonly FieldColumn[]) => void
  readonly onOpen: (id: string) => void
  /** The document that the panel shows. */
  readonly openId: string | undefined
  /** Returns the shortcuts that act on the row of a document. */
  readonly keysOf: (id: string) => KeyHandlers<'documents'>
  /** Undefined if the role does not permit changes. */
  readonly selection: TableSelection | undefined
}

/** The selected documents, and functions that change the selection. */
export interface TableSelection {
  readonly isSelected: (id: string) => boolean
  readonly select: SelectRow
  readonly toggle: (id: string, extend: boolean) => void
  readonly togglePage: () => void
}

const idOf = ({ id }: DocumentFields) => id

/** Table of documents with a column for each chosen field. The id opens the document. */
export function DocumentTable(props: DocumentTableProps) {
  const narrow = useNarrowScreen()
  if (!narrow) return <WideTable {...props} />
  const { caption, documents, columns, stale, onOpen, selection } = props
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the link of each document opens it
    // biome-ignore lint/a11y/noStaticElementInteractions: as above
    <div
      className={classes.list}
      aria-busy={stale}
      data-stale={stale || undefined}
      onClick={onRowClick(documents, ({ id }) => onOpen(id))}
    >
      {selection && <PageCheckbox documents={documents} selection={selection} isLabelShown />}
      <RecordTable
        caption={caption}
        records={documents}
        idOf={idOf}
        columns={[
          {
            head: 'Id',
            cell: ({ id }) => (
              <span className={classes.title}>
                {selection && (
                  <RowCheckbox
                    id={id}
                    checked={selection.isSelected(id)}
                    onToggle={selection.toggle}
                  />
                )}
                <DocumentLink id={id} />
              </span>
            ),
          },
          ...columns.filter(isField).map(({ field }) => ({
            head: fieldLabel(field),
            cell: (document: DocumentFields) => <CellValue value={valueAt(document, field)} />,
          })),
        ]}
      />
    </div>
  )
}

const isField = ({ field }: FieldColumn) => field !== 'id'

function PageCheckbox(props: {
  documents: readonly DocumentFields[]
  selection: TableSelection
  isLabelShown?: boolean
}) {
  const { documents, selection, isLabelShown = false } = props
  const count = documents.filter(({ id }) => selection.isSelected(id)).length
  return (
    <SelectionCheckbox
      label="Select all documents of this page"
      isLabelShown={isLabelShown}
      checked={count === documents.length}
      isSome={count > 0 && count < documents.length}
      onToggle={selection.togglePage}
    />
  )
}

/** Height of a row, and width of the column of checkboxes, in pixels. */
const ROW_HEIGHT = 28
const CHECKBOX_WIDTH = 40

function WideTable(props: DocumentTableProps) {
  const {
    caption,
    documents,
    seen,
    columns,
    sort,
    stale,
    onSort,
    onResize,
    onOpen,
    openId,
    keysOf,
    selection,
  } = props
  const [dragged, setDragged] = useState<readonly FieldColumn[]>()
  const scroller = useRef<HTMLDivElement>(null)
  const width = useWidth(scroller)
  const body = useRef<HTMLTableSectionElement>(null)
  const navigation = useRowNavigation({
    rows: documents,
    container: body,
    pageOf: () => Math.max(1, Math.floor(innerHeight / ROW_HEIGHT) - 3),
    where: 'documents',
    keysOf: ({ id }) => keysOf(id),
    select: selection?.select,
  })
  /** Moves the focus into the table. The arrow keys scroll the page instead. */
  const enter = ({ key }: KeyboardEvent) => {
    if (key.startsWith('Arrow') || body.current?.contains(document.activeElement)) return false
    body.current?.querySelector<HTMLElement>('[data-row][tabindex="0"]')?.focus()
    return true
  }
  useKeys('table', { next: enter, previous: enter })
  const names = columns.filter(isField).map(({ field }) => field)
  // The same array while the columns are the same, so that no row renders again.
  const key = JSON.stringify(names)
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` has all fields
  const fields = useMemo(() => names, [key])
  const fitted = useMemo(() => fitColumns(fields, seen), [fields, seen])
  const selected = selection === undefined ? 0 : CHECKBOX_WIDTH
  const placed = placeColumns(columns, fitted, width - selected)
  const current = dragged === undefined ? placed : placeColumns(dragged, fitted, width - selected)
  const headOf = ({ field, width, isShared }: PlacedColumn) => {
    const label = field === 'id' ? 'Id' : fieldLabel(field)
    const sorted = sort.find((each) => each.field === field)
    const resize = (to: number, done: boolean) => {
      const next = resizeColumn(columns, placed, field, to)
      setDragged(done ? undefined : next)
      if (done) onResize(next)
    }
    return (
      <SortHeadCell
        key={field}
        label={label}
        width={isShared ? undefined : width}
        className={isFigures(fitted, field) ? classes.figures : undefined}
        head={{
          sorted: sorted === undefined ? 'none' : sorted.isDescending ? 'descending' : 'ascending',
          toggle: (extend) => onSort(field, extend),
        }}
        onKeyDown={onKeys('documents', {
          resize: ({ key }) =>
            resize(width + (key === 'ArrowLeft' ? -RESIZE_STEP : RESIZE_STEP), true),
        })}
      >
        <ColumnResizer label={label} width={width} onResize={resize} />
      </SortHeadCell>
    )
  }
  const tableWidth = current.reduce((sum, each) => sum + minWidth(each), selected)
  const latest = useLatest(selection)
  const toggle = useCallback(
    (id: string, extend: boolean) => latest.current?.toggle(id, extend),
    [latest],
  )
  return (
    <div
      ref={scroller}
      className={classes.scroller}
      data-wide
      aria-busy={stale}
      data-stale={stale || undefined}
      data-fits={tableWidth <= width || undefined}
    >
      <table className={`${base.table} ${classes.table}`} style={{ width: tableWidth }}>
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {selection && (
              <td style={{ width: CHECKBOX_WIDTH }}>
                <PageCheckbox documents={documents} selection={selection} />
              </td>
            )}
            {current.map(headOf)}
            {/* Takes the width that no column takes. */}
            <td
              aria-hidden="true"
              style={{ width: current.some(({ isShared }) => isShared) ? 1 : undefined }}
            />
          </tr>
        </thead>
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: useRowNavigation handles Enter */}
        <tbody
          ref={body}
          {...navigation.on}
          onClick={onRowClick(documents, ({ id }) => onOpen(id))}
        >
          {documents.map((document) => (
            <DocumentRow
              key={document.id}
              document={document}
              fields={fields}
              fitted={fitted}
              tabIndex={document.id === navigation.activeId ? 0 : -1}
              isOpen={document.id === openId}
              isSelected={selection?.isSelected(document.id)}
              onToggle={toggle}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

const minWidth = ({ width, isShared }: PlacedColumn) => (isShared ? COLUMN_WIDTH.default : width)

/** Returns the width of an element in pixels. */
function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const at = element.current
    if (at === null) return
    const measure = () => setWidth(at.clientWidth)
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(at)
    return () => observer.disconnect()
  }, [element])
  return width
}
