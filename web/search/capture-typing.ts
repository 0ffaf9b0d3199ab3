/** Returns a text after a key was pressed at its end. */
export function applyKey(text: string, key: string): string {
  if (key === 'Backspace') return [...text].slice(0, -1).join('')
  return [...key].length === 1 ? text + key : text
}

/** Keys that keep what they do: they type nothing, and change nothing on the page. */
const PASSED = /^(Escape|Tab|Shift|CapsLock|AltGraph|Process|F\d+)$/

/**
 * Keeps pressed keys from the page, and calls `onKey` with each instead. Combinations with Ctrl, Alt
 * or ⌘ still act. Returns a function that ends this.
 */
export function captureTyping(onKey: (key: string) => void): () => void {
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
