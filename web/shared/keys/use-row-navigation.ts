import {
  type FocusEvent,
  type KeyboardEvent,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { flushSync } from 'react-dom'
import type { KeyHandlers } from './keys.ts'
import { onKeys } from './use-keys.ts'

export type SelectRow = (index: number, from?: number) => void

type RowScope = 'endpoints' | 'documents'

export interface RowNavigationOptions<Row extends { readonly id: string }> {
  readonly rows: readonly Row[]
  /** The element that contains the rows. */
  readonly container: RefObject<HTMLElement | null>
  /** Returns the number of rows per page. */
  readonly pageOf: () => number
  /** The scope of the shortcuts that act on a row. */
  readonly where: RowScope
  /** Returns the shortcuts that act on a row while it has the focus. */
  readonly keysOf: (row: Row) => KeyHandlers<RowScope>
  /**
   * Toggles a row, or selects all rows from `from` to it. Undefined if rows cannot be selected.
   */
  readonly select?: SelectRow | undefined
}

/**
 * Handles the keyboard in a list of rows, each an element with its id as `data-row`. One row at a
 * time is in the tab order. In a virtualized list, it stays rendered when it is scrolled out of
 * view.
 */
export function useRowNavigation<Row extends { readonly id: string }>(
  options: RowNavigationOptions<Row>,
) {
  const { rows, container, pageOf, where, keysOf, select } = options
  const [active, setActive] = useState<string>()
  const lastIndex = useRef(0)
  const found = useMemo(
    () => (active === undefined ? -1 : rows.findIndex(({ id }) => id === active)),
    [rows, active],
  )
  // If the active row is gone, the row now at its position takes over.
  const index = found >= 0 ? found : Math.min(lastIndex.current, Math.max(rows.length - 1, 0))
  const row = rows[index]
  useEffect(() => {
    lastIndex.current = index
  }, [index])

  const focused = useRef<string>(undefined)
  const focusRow = (id: string) =>
    container.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(id)}"]`)?.focus()

  useLayoutEffect(() => {
    if (focused.current === undefined) return
    if (document.activeElement !== document.body && document.activeElement !== null) return
    if (rows.some(({ id }) => id === focused.current)) return
    focused.current = undefined
    const target =
      row && container.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(row.id)}"]`)
    const otherwise = document.querySelector<HTMLElement>('main')
    // The row is already rendered; `findRow` would call `flushSync` during a commit.
    ;(target ?? otherwise)?.focus()
  }, [rows, row, container])

  useLayoutEffect(
    () => () => {
      if (focused.current === undefined) return
      // The list is removed with its last row. The browser then moves the focus to the body.
      setTimeout(() => {
        if (document.activeElement === document.body) {
          document.querySelector<HTMLElement>('main')?.focus({ preventScroll: true })
        }
      })
    },
    [],
  )

  const go = (to: number) => {
    const target = rows[to]
    if (target === undefined) return
    // Render the row first; focusing it then scrolls to it.
    flushSync(() => setActive(target.id))
    focusRow(target.id)
  }
  const step = (steps: number) => () => go(stepFrom(index, steps, rows.length))
  const onKeyDown = (event: KeyboardEvent) => {
    if (row === undefined || !(event.target instanceof Element)) return
    const at = event.target.closest('[data-row]')
    if (at === null) return
    const steps = {
      next: step(1),
      previous: step(-1),
      'page-down': () => step(pageOf())(),
      'page-up': () => step(-pageOf())(),
      first: step(-rows.length),
      last: step(rows.length),
      ...(select && {
        extend: ({ key }: globalThis.KeyboardEvent) => {
          const to = stepFrom(index, { ArrowUp: -1, ArrowDown: 1 }[key] ?? 0, rows.length)
          select(to, index)
          go(to)
        },
      }),
    }
    // Buttons within a row handle their own keys.
    const isRow = at === event.target
    const selects = isRow && select ? { select: () => select(index) } : {}
    if (onKeys('table', { ...steps, ...selects })(event) || !isRow) return
    onKeys(where, keysOf(row))(event)
  }
  const onFocus = useCallback((event: FocusEvent) => {
    const id = event.target.closest<HTMLElement>('[data-row]')?.dataset.row
    focused.current = id
    if (id !== undefined) setActive(id)
  }, [])
  const onBlur = useCallback(({ relatedTarget }: FocusEvent) => {
    // A row that is removed from the document loses the focus without a new target.
    if (relatedTarget !== null) focused.current = undefined
  }, [])
  return {
    index,
    activeId: row?.id,
    /** Makes a row the active one, by its id. */
    activate: setActive,
    on: { onKeyDown, onFocus, onBlur },
  }
}

/** Returns the index `steps` away from another, clamped to the list. */
const stepFrom = (index: number, steps: number, count: number): number =>
  Math.min(Math.max(index + steps, 0), count - 1)
