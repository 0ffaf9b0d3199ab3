/**
 * Returns the element of a document in the list that takes the focus: its row in the table, or its
 * link on narrow screens. Returns null if the document is not on this page.
 */
export function findDocumentLink(id: string): HTMLElement | null {
  const row = document.querySelector<HTMLElement>(`main [data-row="${CSS.escape(id)}"]`)
  return row instanceof HTMLTableRowElement ? row : (row?.querySelector('a') ?? null)
}
