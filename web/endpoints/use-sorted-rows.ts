import {
  createSortedRowModel,
  type Row,
  rowSortingFeature,
  type SortingState,
  tableFeatures,
  useTable,
} from '@tanstack/react-table'
import { useMemo, useRef } from 'react'
import type { EndpointRow } from './endpoint-rows.ts'
import {
  type EndpointSort,
  FIRST_SORT,
  SORT_COLUMNS,
  type SortColumn,
  sortKeys,
  TRAFFIC_COLUMNS,
} from './endpoint-sort.ts'

// Only what is used of TanStack Table is in the bundle.
const features = tableFeatures({ rowSortingFeature, sortedRowModel: createSortedRowModel() })

type TableRow = Row<typeof features, EndpointRow>

function compareBy(column: SortColumn) {
  // Rows come sorted by address already.
  if (column === 'address') return (a: TableRow, b: TableRow) => a.index - b.index
  const key = sortKeys[column]
  return (a: TableRow, b: TableRow) => {
    const [x, y] = [key(a.original), key(b.original)]
    return x < y ? -1 : x > y ? 1 : 0
  }
}

const columns = SORT_COLUMNS.map((id) => ({
  id,
  accessorFn: (row: EndpointRow) => row.id,
  sortFn: compareBy(id),
  sortDescFirst: TRAFFIC_COLUMNS.includes(id),
}))

const getRowId = ({ id }: EndpointRow) => id

/** A head of a column: how it is sorted now, and what a press of it does. */
export interface SortHead {
  readonly sorted: 'ascending' | 'descending' | 'none'
  readonly toggle: () => void
}

/** Sorts rows, which come sorted by address. The heads go from one direction to the other, to none. */
export function useSortedRows(
  rows: readonly EndpointRow[],
  sort: EndpointSort,
  onSort: (sort: EndpointSort) => void,
) {
  const { column, descending } = sort
  const sorting = useMemo<SortingState>(
    () => [{ id: column, desc: descending }],
    [column, descending],
  )
  const table = useTable({
    features,
    columns,
    data: rows as EndpointRow[],
    getRowId,
    state: { sorting },
    enableMultiSort: false,
    onSortingChange: (updater) => {
      const [next] = typeof updater === 'function' ? updater(sorting) : updater
      const found = SORT_COLUMNS.find((one) => one === next?.id)
      onSort(found && next ? { column: found, descending: next.desc } : FIRST_SORT)
    },
  })
  const model = table.getSortedRowModel().rows
  const last = useRef<{ model: typeof model; rows: EndpointRow[] }>(undefined)
  if (last.current?.model !== model) {
    last.current = { model, rows: model.map(({ original }) => original) }
  }
  const headOf = (id: SortColumn): SortHead => {
    const sorted = table.getColumn(id)?.getIsSorted()
    return {
      sorted: sorted === 'asc' ? 'ascending' : sorted === 'desc' ? 'descending' : 'none',
      toggle: () => table.getColumn(id)?.toggleSorting(),
    }
  }
  return { sorted: last.current.rows, headOf }
}
