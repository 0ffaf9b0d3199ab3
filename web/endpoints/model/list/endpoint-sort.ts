import type { EndpointRow } from './endpoint-rows.ts'
import { GRAVITY } from './endpoint-rows.ts'

/** The columns by which the table can be sorted, as the URL names them. */
export const SORT_COLUMNS = [
  'state',
  'address',
  'databases',
  'connections',
  'rate',
  'last',
] as const

/** A column by which the table can be sorted. */
export type SortColumn = (typeof SORT_COLUMNS)[number]

/** An order of the table. */
export interface EndpointSort {
  readonly column: SortColumn
  readonly descending: boolean
}

/** The order in which the table begins: by address, ports as numbers. */
export const FIRST_SORT: EndpointSort = { column: 'address', descending: false }

/** The columns that change by themselves: the most comes first. */
export const TRAFFIC_COLUMNS: readonly string[] = ['connections', 'rate', 'last']

/** Reads `rate` or, descending, `-rate` of the URL; anything else is the first order. */
export function readSort(text: string | undefined): EndpointSort {
  const column = SORT_COLUMNS.find((one) => one === text?.replace(/^-/, ''))
  return column === undefined ? FIRST_SORT : { column, descending: text?.startsWith('-') === true }
}

/** An order as the URL has it; `undefined` for the one in which the table begins. */
export const writeSort = ({ column, descending }: EndpointSort): string | undefined =>
  column === FIRST_SORT.column && !descending ? undefined : `${descending ? '-' : ''}${column}`

/**
 * What a row is compared by: a number or a text without locale (names are ASCII). Rows come sorted
 * by address, and equal ones stay so. What has no figure is less than 0.
 */
export const sortKeys: Readonly<
  Record<Exclude<SortColumn, 'address'>, (row: EndpointRow) => number | string>
> = {
  state: ({ state }) => GRAVITY.indexOf(state),
  databases: ({ databases }) => databases?.join(' ').toLowerCase() ?? '\uffff',
  connections: (row) => (hasFigures(row) ? row.connections : -1),
  rate: (row) => (hasFigures(row) ? row.requestsPerSecond : -1),
  last: ({ lastRequest }) => lastRequest ?? '',
}

/** Whether a row has traffic at all: neither failed nor unheard of. */
export const hasFigures = ({ state, lead }: EndpointRow): boolean =>
  lead !== undefined && state !== 'failed'
