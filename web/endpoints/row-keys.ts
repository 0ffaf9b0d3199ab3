import type { EndpointRow } from './endpoint-rows.ts'

/** What the keys do with the row that has the focus. Letters act there alone (WCAG 2.1.4). */
export interface RowKeys {
  readonly copy: (row: EndpointRow) => void
  // Left out where the role does not allow changes.
  readonly add?: () => void
  readonly edit?: (row: EndpointRow) => void
  readonly remove?: (row: EndpointRow) => void
}

const PAGE = 10

/** The index of the row that a key goes to; `undefined` where the key goes nowhere. */
export function stepOf(key: string, index: number, count: number): number | undefined {
  const goal = {
    ArrowDown: index + 1,
    j: index + 1,
    ArrowUp: index - 1,
    k: index - 1,
    PageDown: index + PAGE,
    PageUp: index - PAGE,
    Home: 0,
    End: count - 1,
  }[key]
  return goal === undefined ? undefined : Math.min(Math.max(goal, 0), count - 1)
}

/** Does what a key means for a row; tells whether it means anything. */
export function runRowKey(keys: RowKeys, key: string, row: EndpointRow): boolean {
  // What is left of a removed endpoint can be copied, but not changed.
  const change = row.databases !== null
  if (key === 'n') keys.add?.()
  else if (key === 'c') keys.copy(row)
  else if (key === 'e' && change) keys.edit?.(row)
  else if (key === 'Delete' && change) keys.remove?.(row)
  else return false
  return true
}
