/**
 * Returns the element of a document in the list that takes the focus: its row in the table, or its
 * link on narrow screens. Returns null if the document is not on this page.
 */
export function findDocumentElement(id: string): HTMLElement | null {
  const row = document.querySelector<HTMLElement>(`main [data-row="${CSS.escape(id)}"]`)
  return row instanceof HTMLTableRowElement ? row : (row?.querySelector('a') ?? null)
}

/**
 * Returns the id of the next document in the list, or of the previous one if there is none after
 * it; undefined if it is alone.
 */
export function findNeighbor(id: string): string | undefined {
  const row = findDocumentElement(id)?.closest('[data-row]')
  const neighbor = row?.nextElementSibling ?? row?.previousElementSibling
  return neighbor?.getAttribute('data-row') ?? undefined
}
