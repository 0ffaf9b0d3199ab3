import { useLayoutEffect } from 'react'
import { useLatest } from '../use-latest.ts'

/**
 * Layers over the page, lowest first. Within one kind, the layer opened last is on top. `selection`
 * is the selection of a table; `field` is a focused field that handles Escape, unless a dialog
 * covers it.
 */
const ORDER = ['selection', 'panel', 'dialog', 'palette', 'field', 'tooltip'] as const

/** See {@link ORDER}. A menu uses `dialog`, because it covers the dialog that it opens in. */
export type EscapeLayer = (typeof ORDER)[number]

/**
 * Closes a layer. If it returns `false`, Escape goes to the next layer. `'own'`: the layer handles
 * the event itself, such as a drag in progress.
 */
export type OnEscape = (() => unknown) | 'own'

interface Open {
  readonly layer: EscapeLayer
  readonly onEscape: { current: OnEscape | undefined }
}

// In opening order.
const layers: Open[] = []

/**
 * Closes a layer on Escape if it is the topmost one; layers below do not receive the key. All
 * dialogs, panels, menus, lists, and tooltips use this hook instead of their own listeners.
 *
 * @param onEscape undefined while the layer is closed.
 */
export function useEscape(layer: EscapeLayer, onEscape: OnEscape | undefined): void {
  const latest = useLatest(onEscape)
  const isOpen = onEscape !== undefined
  useLayoutEffect(() => {
    if (!isOpen) return
    const open: Open = { layer, onEscape: latest }
    // Captures the event before any listener of a component.
    if (layers.length === 0) addEventListener('keydown', closeTopmost, { capture: true })
    layers.push(open)
    return () => {
      layers.splice(layers.indexOf(open), 1)
      if (layers.length === 0) removeEventListener('keydown', closeTopmost, { capture: true })
    }
  }, [isOpen, layer, latest])
}

function closeTopmost(event: KeyboardEvent): void {
  const { key, defaultPrevented, isComposing, altKey, ctrlKey, metaKey, shiftKey } = event
  if (key !== 'Escape' || altKey || ctrlKey || metaKey || shiftKey) return
  if (defaultPrevented || isComposing) return
  const isCovered = isFocusCovered()
  for (const { layer, onEscape } of fromTop()) {
    if (onEscape.current === 'own') return
    if (layer === 'field' && isCovered) continue
    if (onEscape.current === undefined || onEscape.current() === false) continue
    event.preventDefault()
    event.stopImmediatePropagation()
    return
  }
}

/** Returns the open layers, topmost first. */
const fromTop = (): Open[] =>
  layers.toReversed().sort((a, b) => ORDER.indexOf(b.layer) - ORDER.indexOf(a.layer))

/**
 * Returns whether a modal dialog covers the focused element: a dialog that has just opened receives
 * the focus a moment later.
 */
function isFocusCovered(): boolean {
  const dialog = [...document.querySelectorAll('[aria-modal="true"]')].at(-1)
  const { activeElement } = document
  return dialog !== undefined && activeElement !== document.body && !dialog.contains(activeElement)
}
