/** The link of a database in the table; null where its row is not in the page. */
export const findDatabase = (name: string): HTMLElement | null =>
  document.querySelector<HTMLElement>(`main [data-row="${CSS.escape(name)}"] a`)
