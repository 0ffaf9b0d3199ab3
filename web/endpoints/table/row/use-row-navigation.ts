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
import { onKeys } from '../keys/use-keys.ts'
import type { EndpointRow } from './endpoint-rows.ts'
import { onReveal } from './find-row.ts'
import { type RowActions, rowKeys, stepFrom } from './row-keys.ts'

/** What {@link useRowNavigation} needs. */
export interface RowNavigationOptions {
  readonly rows: readonly EndpointRow[]
  /** What holds the rows. */
  readonly place: RefObject<HTMLElement | null>
  /** How many rows a page is. */
  readonly pageOf: () => number
  readonly actions: RowActions
  /** Left out where nothing can be selected. */
  readonly select?: ((index: number, extend: boolean) => void) | undefined
  /** A row is looked for: it may have to be put into its place first. */
  readonly onLookFor: (id: string) => void
}

/**
 * The keyboard in a list of rows of which only those in sight are in the page. One row at a time
 * takes part in the order of Tab; it is always there, also out of sight.
 */
export function useRowNavigation(options: RowNavigationOptions) {
  const { rows, place, pageOf, actions, select, onLookFor } = options
  const [active, setActive] = useState<string>()
  const lastIndex = useRef(0)
  const found = useMemo(
    () => (active === undefined ? -1 : rows.findIndex(({ id }) => id === active)),
    [rows, active],
  )
  // Where the row is gone, the one that stands there now follows it.
  const index = found >= 0 ? found : Math.min(lastIndex.current, Math.max(rows.length - 1, 0))
  const row = rows[index]
  useEffect(() => {
    lastIndex.current = index
  }, [index])

  const focused = useRef<string>(undefined)
  const focusRow = (id: string) =>
    place.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(id)}"]`)?.focus()

  useLayoutEffect(() => {
    if (focused.current === undefined) return
    if (document.activeElement !== document.body && document.activeElement !== null) return
    if (rows.some(({ id }) => id === focused.current)) return
    focused.current = undefined
    const goal =
      row && place.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(row.id)}"]`)
    const otherwise = document.querySelector<HTMLElement>('main')
    // It is in the page already: to look for it would draw in the middle of drawing.
    ;(goal ?? otherwise)?.focus()
  }, [rows, row, place])

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
    const goal = rows[to]
    if (goal === undefined) return
    // Into the page first, wherever it is; the focus then scrolls to it.
    flushSync(() => setActive(goal.id))
    focusRow(goal.id)
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
    // A button within the row has keys of its own.
    const own = at === event.target
    const more = own
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
    // A row that is taken out of the page gives the focus to nobody.
    if (relatedTarget !== null) focused.current = undefined
  }, [])
  return {
    index,
    activeId: row?.id,
    focusedId: () => focused.current,
    on: { onKeyDown, onFocus, onBlur },
  }
}
