/** Returns the rows whose name contains a text, ignoring case. */
export function filterByName<Row extends { readonly name: string }>(
  rows: readonly Row[],
  text: string,
): readonly Row[] {
  const wanted = text.trim().toLowerCase()
  return wanted === '' ? rows : rows.filter(({ name }) => name.toLowerCase().includes(wanted))
}
