/** Returns the link of a document in the list; null if it is not on this page. */
export const findDocumentLink = (id: string): HTMLElement | null =>
  document.querySelector<HTMLElement>(`main [data-row="${CSS.escape(id)}"] a`)
