/** The row of an endpoint in the page, to give it the focus; `null` when the filter hides it. */
export const findRow = (id: string): HTMLElement | null =>
  document.querySelector<HTMLElement>(`[data-row="${CSS.escape(id)}"]`)
