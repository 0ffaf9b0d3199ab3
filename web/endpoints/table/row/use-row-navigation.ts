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
import { onKeys } from '../../../shared/keys/use-keys.ts'
import type { EndpointRow } from '../../model/endpoint-rows.ts'
import { onReveal } from '../../model/reveal-row.ts'
import { type RowActions, rowKeys, stepFrom } from './row-keys.ts'

export interface RowNavigationOptions {
  readonly rows: readonly EndpointRow[]
  /** The element that contains the rows. */
  readonly container: RefObject<HTMLElement | null>
  /** Returns the number of rows per page. */
  readonly pageOf: () => number
  readonly actions: RowActions
  /** Undefined if rows cannot be selected. */
  readonly select?: ((index: number, extend: boolean) => void) | undefined
  /** Called before a row gets the focus; it may have to be sorted into its place first. */
  readonly onLookFor: (id: string) => void
}

/**
 * Handles the keyboard in a virtualized list of rows. One row at a time is in the tab order; it
 * stays rendered when it is scrolled out of view.
 */
export function useRowNavigation(options: RowNavigationOptions) {
  const { rows, container, pageOf, actions, select, onLookFor } = options
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

  const lookFor = useRef(onLookFor)
  lookFor.current = onLookFor
  useEffect(
    () =>
      onReveal((id) =>
        flushSync(() => {
          lookFor.current(id)
          setActive(id)
        }),
      ),
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
          select(to, true)
          go(to)
        },
      }),
    }
    // Buttons within a row handle their own keys.
    const isRow = at === event.target
    const more = isRow
      ? { ...rowKeys(actions, row), ...(select && { select: () => select(index, false) }) }
      : {}
    onKeys('table', { ...steps, ...more })(event)
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
    on: { onKeyDown, onFocus, onBlur },
  }
}
