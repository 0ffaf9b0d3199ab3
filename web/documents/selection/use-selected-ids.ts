import { useRef, useState } from 'react'
import { MAX_SELECTED } from './change-selected.ts'

const NOTHING: ReadonlySet<string> = new Set()

/** What is selected: these documents, or all that match the filter. */
export interface DocumentSelection {
  readonly ids: ReadonlySet<string>
  readonly isAll: boolean
}

/**
 * Holds the selected documents of a query. Documents of other pages stay selected; another filter
 * clears the selection.
 */
export function useSelectedIds(filter: string | undefined, shown: readonly string[]) {
  const [selection, setSelection] = useState({ filter, ids: NOTHING, isAll: false })
  const anchor = useRef<string>(undefined)
  const isSame = selection.filter === filter
  const isAll = isSame && selection.isAll
  // Deselecting one of all that match leaves the others of the page.
  const ids = isAll ? new Set(shown) : isSame ? selection.ids : NOTHING
  const choose = (next: Iterable<string>, all = false) =>
    setSelection({ filter, ids: new Set([...next].slice(0, MAX_SELECTED)), isAll: all })
  return {
    selection: { ids, isAll } satisfies DocumentSelection,
    choose,
    chooseAll: () => choose([], true),
    clear: () => choose([]),
    /** Selects or deselects a document. Shift extends the selection from the last one. */
    toggle: (id: string, extend: boolean) => {
      const [from, to] = [shown.indexOf(anchor.current ?? ''), shown.indexOf(id)]
      if (extend && from >= 0 && to >= 0) {
        choose([...ids, ...shown.slice(Math.min(from, to), Math.max(from, to) + 1)])
        return
      }
      anchor.current = id
      choose(ids.has(id) ? [...ids].filter((each) => each !== id) : [...ids, id])
    },
    /** Selects all documents of the page, or deselects them if all are selected. */
    togglePage: () =>
      choose(
        shown.every((id) => ids.has(id))
          ? [...ids].filter((id) => !shown.includes(id))
          : [...ids, ...shown],
      ),
  }
}
