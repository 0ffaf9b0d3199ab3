import { useCallback, useMemo, useRef, useState } from 'react'
import type { EndpointRow } from '../model/endpoint-rows.ts'
import { type Selection, selectRange, toggleAll, toggleRow } from '../model/list/selection.ts'

const EMPTY: Selection = new Set()

/**
 * Holds the selection among the displayed rows. Shift extends it from the last selected row.
 * Removed endpoints are deselected.
 */
export function useSelection(rows: readonly EndpointRow[], shown: readonly EndpointRow[]) {
  const [chosen, setChosen] = useState(EMPTY)
  const anchor = useRef<string>(undefined)
  const latest = useRef(shown)
  latest.current = shown

  const selected = useMemo(() => {
    if (chosen.size === 0) return EMPTY
    const there = rows.flatMap(({ address, databases }) =>
      databases !== null && chosen.has(address) ? address : [],
    )
    return there.length === chosen.size ? chosen : new Set(there)
  }, [chosen, rows])

  const onSelect = useCallback((row: EndpointRow, extend: boolean) => {
    const from = latest.current.findIndex(({ id }) => id === anchor.current)
    const to = latest.current.findIndex(({ id }) => id === row.id)
    if (extend && from >= 0) setChosen((now) => selectRange(now, latest.current, from, to))
    else setChosen((now) => toggleRow(now, row))
    if (!extend || from < 0) anchor.current = row.id
  }, [])
  const onSelectIndex = useCallback(
    (index: number, extend: boolean) => {
      const row = latest.current[index]
      if (row !== undefined) onSelect(row, extend)
    },
    [onSelect],
  )
  return {
    selected,
    onSelect,
    onSelectIndex,
    onSelectAll: useCallback(() => setChosen((now) => toggleAll(now, latest.current)), []),
    deselect: useCallback(
      (addresses: Iterable<string>) => setChosen((now) => now.difference(new Set(addresses))),
      [],
    ),
    clear: () => setChosen(EMPTY),
    /** Number of selected rows that the filter hides. */
    hidden: useMemo(() => {
      if (selected.size === 0) return 0
      const there = shown.reduce(
        (count, { address, databases }) =>
          databases !== null && selected.has(address) ? count + 1 : count,
        0,
      )
      return selected.size - there
    }, [selected, shown]),
  }
}
