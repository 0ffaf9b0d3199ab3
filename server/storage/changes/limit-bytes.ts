/** How many of these, from the first on, take no more than so many bytes together; one at least. */
export function howManyFit(rows: readonly { readonly bytes: number }[], most: number): number {
  let sum = 0
  const beyond = rows.findIndex(({ bytes }) => {
    sum += bytes
    return sum > most
  })
  return beyond === -1 ? rows.length : Math.max(1, beyond)
}
