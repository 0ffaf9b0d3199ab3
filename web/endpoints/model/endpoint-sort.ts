import { SEVERITY } from '../../../server/contract/endpoints/listener-state.ts'
import type { EndpointRow } from './endpoint-rows.ts'

/** The sortable columns, as named in the URL. */
export const SORT_COLUMNS = ['state', 'address', 'databases', 'connections', 'rate'] as const

export type SortColumn = (typeof SORT_COLUMNS)[number]

export interface EndpointSort {
  readonly column: SortColumn
  readonly descending: boolean
}

/** The default order: by address, with numeric ports. */
export const FIRST_SORT: EndpointSort = { column: 'address', descending: false }

/** The columns that change with traffic. They sort in descending order first. */
export const TRAFFIC_COLUMNS: readonly string[] = ['connections', 'rate']

/**
 * Parses `rate` or, descending, `-rate` from the URL. Returns the default order for anything else.
 */
export function readSort(text: string | undefined): EndpointSort {
  const column = SORT_COLUMNS.find((one) => one === text?.replace(/^-/, ''))
  return column === undefined ? FIRST_SORT : { column, descending: text?.startsWith('-') === true }
}

/** Formats an order for the URL; `undefined` for the default order. */
export const writeSort = ({ column, descending }: EndpointSort): string | undefined =>
  column === FIRST_SORT.column && !descending ? undefined : `${descending ? '-' : ''}${column}`

/**
 * The sort key of a row: a number, or a string in natural order. Rows arrive sorted by address
 * and the sort is stable. Rows without figures have -1.
 */
export const sortKeys: Readonly<
  Record<Exclude<SortColumn, 'address'>, (row: EndpointRow) => number | string>
> = {
  state: ({ state }) => SEVERITY.indexOf(state),
  databases: ({ databases }) => databases?.join(' ') ?? '\uffff',
  connections: (row) => (hasFigures(row) ? row.connections : -1),
  rate: (row) => (hasFigures(row) ? row.requestsPerSecond : -1),
}

/** Returns whether a row has traffic figures: it has not failed, and a listener has reported. */
export const hasFigures = ({ state, lead }: EndpointRow): boolean =>
  lead !== undefined && state !== 'failed'
