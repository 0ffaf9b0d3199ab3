import { lazy, Suspense, useEffect, useState } from 'react'
import { useLatest } from '../../use-latest.ts'
import { useEscape } from '../use-escape.ts'

const load = () => import('./tooltip-box.tsx')
const TooltipBox = lazy(async () => ({ default: (await load()).TooltipBox }))

/** Hover delay before a tooltip opens, in ms. On focus it opens immediately. */
const HOVER_DELAY_MS = 300

/** An open tooltip. Each opening creates a new object. */
interface Shown {
  readonly element: HTMLElement
  readonly by: 'pointer' | 'focus'
}

/**
 * Shows a tooltip for the element with `data-tip` that is hovered or focused. One component serves
 * the whole page, because one tooltip per table row would be too slow. The tooltip can be hovered,
 * stays open until hover and focus leave, and closes on Escape (WCAG 1.4.13).
 */
export function Tooltips() {
  const [shown, setShown] = useState<Shown>()
  const latest = useLatest(shown)
  const close = () => setShown(undefined)
  useEscape('tooltip', shown && close)

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let opening: Shown | undefined
    const cancel = () => {
      clearTimeout(timer)
      opening = undefined
    }
    const open = (element: HTMLElement, by: Shown['by'], wait: number) => {
      cancel()
      const next = { element, by }
      opening = next
      // If the code fails to load, no tooltip is shown. Browsers that remember the failure load it
      // only after a reload (https://github.com/whatwg/html/pull/10327).
      const loading = load().then(
        () => true,
        () => false,
      )
      timer = setTimeout(async () => {
        if ((await loading) && opening === next) setShown(next)
      }, wait)
    }
    const onOver = ({ target }: Event) => {
      cancel()
      const now = latest.current?.element
      if (now?.isConnected === false) setShown(undefined)
      const found = ownerOf(target)
      if (found !== undefined && found !== now) open(found, 'pointer', HOVER_DELAY_MS)
    }
    const onFocus = ({ target }: Event) => {
      const found = ownerOf(target)
      if (found !== undefined && found !== latest.current?.element) open(found, 'focus', 0)
    }
    const onBlur = () => {
      if (opening?.by === 'focus') cancel()
      if (latest.current?.by === 'focus') setShown(undefined)
    }
    const hide = () => {
      cancel()
      setShown(undefined)
    }
    const onScroll = () => {
      if (latest.current?.element.isConnected === false) hide()
    }
    const onDown = ({ target }: Event) => {
      if (!(target instanceof Element && target.closest('[role="tooltip"]'))) hide()
    }
    const ending = new AbortController()
    const { signal } = ending
    document.addEventListener('pointerover', onOver, { signal })
    document.addEventListener('pointerdown', onDown, { signal })
    document.addEventListener('focusin', onFocus, { signal })
    document.addEventListener('focusout', onBlur, { signal })
    // Typing in a filter may change what the element shows.
    document.addEventListener('input', hide, { signal })
    addEventListener('scroll', onScroll, { capture: true, signal })
    return () => {
      cancel()
      ending.abort()
    }
  }, [latest])

  if (shown === undefined) return null
  return (
    <Suspense>
      <TooltipBox key={keyOf(shown)} element={shown.element} onClose={close} />
    </Suspense>
  )
}

/** Returns the element whose tooltip an event target triggers; undefined if there is none. */
function ownerOf(target: EventTarget | null): HTMLElement | undefined {
  if (!(target instanceof Element)) return undefined
  return target.closest<HTMLElement>('[data-tip]') ?? undefined
}

let lastKey = 0
const keys = new WeakMap<Shown, number>()

/**
 * Returns a key per opening. Mantine's tooltip opens only on mount and then follows the pointer.
 */
function keyOf(shown: Shown): number {
  const key = keys.get(shown) ?? ++lastKey
  keys.set(shown, key)
  return key
}
