let reveal: ((id: string) => void) | undefined

/**
 * Registers a function that renders a row on demand; the table renders only visible rows. Returns a
 * function that unregisters it.
 */
export function onReveal(show: (id: string) => void): () => void {
  reveal = show
  return () => {
    if (reveal === show) reveal = undefined
  }
}

/** Returns the row element of an endpoint, to focus it; `null` if the filter hides it. */
export function revealRow(id: string): HTMLElement | null {
  reveal?.(id)
  return document.querySelector<HTMLElement>(`[data-row="${CSS.escape(id)}"]`)
}

/** Returns the element to focus after a dialog: its opener in the panel, otherwise the row. */
export const focusAfterDialog = (id: string) => (opener: HTMLElement | undefined) =>
  opener?.closest('[data-panel]') ? opener : revealRow(id)
