import { lazy, useCallback, useEffect, useLayoutEffect, useState } from 'react'
import { useKeys } from '../shared/keys/use-keys.ts'
import { useLayer } from '../shared/keys/use-layer.ts'
import { LazyBoundary } from '../ui/feedback/lazy-boundary.tsx'
import { useEscape } from '../ui/overlay/use-escape.ts'

const load = () => import('./search-dialog.tsx')
const SearchDialog = lazy(async () => ({ default: (await load()).SearchDialog }))

/** Preloads the search. Load errors are ignored until it opens. */
export const preloadSearch = (): void => void load().catch(() => {})

/** Maximum time until the URL has changed, ms. A page may prevent the change. */
const OPENING_MS = 1_000

/**
 * The search with its shortcut. Its dialog is open while the URL ends in `#search`. What is typed
 * before its field has the focus, such as while its code is loading, is typed into the field.
 */
export function GlobalSearch() {
  const { layer, isOpen, close, toggle } = useLayer()
  const [query, setQuery] = useState('')
  const [isOpening, setIsOpening] = useState(false)
  const cancel = useCallback(() => {
    setIsOpening(false)
    setQuery('')
  }, [])
  useKeys('anywhere', {
    search: () => {
      // The URL changes a moment later.
      if (isOpen('search')) cancel()
      else setIsOpening(true)
      toggle('search')
    },
  })
  useLayoutEffect(() => {
    if (layer !== 'search') return
    setIsOpening(true)
    load().catch(() => setIsOpening(false))
    return cancel
  }, [layer, cancel])
  useLayoutEffect(
    () => (isOpening ? captureTyping((key) => setQuery((text) => applyKey(text, key))) : undefined),
    [isOpening],
  )
  useEffect(() => {
    if (!isOpening || layer === 'search') return
    const timer = setTimeout(cancel, OPENING_MS)
    return () => clearTimeout(timer)
  }, [isOpening, layer, cancel])
  useEscape(
    'palette',
    isOpening
      ? () => {
          cancel()
          close()
        }
      : undefined,
  )
  if (layer !== 'search') return null
  return (
    <LazyBoundary>
      <SearchDialog
        query={query}
        onChange={setQuery}
        onFocus={() => setIsOpening(false)}
        onClose={close}
      />
    </LazyBoundary>
  )
}

/** Returns a text after a key was pressed at its end. */
export function applyKey(text: string, key: string): string {
  if (key === 'Backspace') return [...text].slice(0, -1).join('')
  return [...key].length === 1 ? text + key : text
}

/** Keys that are not captured, because they neither type text nor change the page. */
const PASSED = /^(Escape|Tab|Shift|CapsLock|AltGraph|Process|F\d+)$/

/**
 * Captures pressed keys and calls `onKey` with each. Combinations with Ctrl, Alt or ⌘ still act.
 * Returns a function that stops capturing.
 */
function captureTyping(onKey: (key: string) => void): () => void {
  const onKeyDown = (event: KeyboardEvent) => {
    const { key, ctrlKey, metaKey, altKey, isComposing } = event
    const isShortcut = (ctrlKey || metaKey || altKey) && !event.getModifierState('AltGraph')
    if (isShortcut || isComposing || PASSED.test(key)) return
    event.preventDefault()
    event.stopImmediatePropagation()
    onKey(key)
  }
  addEventListener('keydown', onKeyDown, { capture: true })
  return () => removeEventListener('keydown', onKeyDown, { capture: true })
}
