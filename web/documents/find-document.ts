/** The link to a document in the list; null where it is on another page. */
export const findDocument = (id: string): HTMLElement | null =>
  document.querySelector<HTMLElement>(`main [data-row="${CSS.escape(id)}"] a`)
