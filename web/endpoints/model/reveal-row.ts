let reveal: ((id: string) => void) | undefined

/**
 * Lets the table bring a row into the page when it is looked for: only the rows in sight are there.
 * Returns its own end.
 */
export function onReveal(show: (id: string) => void): () => void {
  reveal = show
  return () => {
    if (reveal === show) reveal = undefined
  }
}

/** The row of an endpoint in the page, to give it the focus; `null` when the filter hides it. */
export function findRow(id: string): HTMLElement | null {
  reveal?.(id)
  return document.querySelector<HTMLElement>(`[data-row="${CSS.escape(id)}"]`)
}
