/** Returns the row of a table in the tab order. */
export const activeRow = () => document.querySelector<HTMLElement>('main [data-row][tabindex="0"]')
