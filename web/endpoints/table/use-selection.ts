import { useCallback, useMemo, useRef, useState } from 'react'
import type { SelectRow } from '../../shared/keys/use-row-navigation.ts'
import { useLatest } from '../../ui/use-latest.ts'
import type { EndpointRow } from '../model/endpoint-rows.ts'
import { type Selection, selectRange, toggleAll, toggleRow } from '../model/selection.ts'

const EMPTY: Selection = new Set()

/**
 * Holds the selection among the displayed rows. Shift extends it from the last selected row.
 * Removed endpoints are deselected.
 */
export function useSelection(rows: readonly EndpointRow[], shown: readonly EndpointRow[]) {
  const [chosen, setChosen] = useState(EMPTY)
  const anchor = useRef<string>(undefined)
  const latest = useLatest(shown)

  const selected = useMemo(() => {
    if (chosen.size === 0) return EMPTY
    const there = rows.flatMap(({ address, databases }) =>
      databases !== null && chosen.has(address) ? address : [],
    )
    return there.length === chosen.size ? chosen : new Set(there)
  }, [chosen, rows])

  const onSelectIndex: SelectRow = useCallback(
    (index, from) => {
      const rows = latest.current
      const row = rows[index]
      if (row === undefined) return
      setChosen((now) =>
        from === undefined ? toggleRow(now, row) : selectRange(now, rows, from, index),
      )
      anchor.current = row.id
    },
    [latest],
  )
  const onSelect = useCallback(
    (row: EndpointRow, extend: boolean) => {
      const indexOf = (wanted?: string) => latest.current.findIndex(({ id }) => id === wanted)
      const [from, to] = [indexOf(anchor.current), indexOf(row.id)]
      // The filter may hide the last selected row.
      onSelectIndex(to, extend ? (from < 0 ? to : from) : undefined)
    },
    [latest, onSelectIndex],
  )
  return {
    selected,
    onSelect,
    onSelectIndex,
    onSelectAll: useCallback(() => setChosen((now) => toggleAll(now, latest.current)), [latest]),
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
