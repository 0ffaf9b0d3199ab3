/** Returns the link of a database in the table; null if its row is not rendered. */
export const findDatabaseLink = (name: string): HTMLElement | null =>
  document.querySelector<HTMLElement>(`main [data-row="${CSS.escape(name)}"] a`)
