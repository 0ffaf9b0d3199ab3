/**
 * Returns how many rows, from the first one on, fit into `maxBytes` bytes: at least 1 if there are
 * rows.
 */
export function limitBytes(rows: readonly { readonly bytes: number }[], maxBytes: number): number {
  let sum = 0
  const beyond = rows.findIndex(({ bytes }) => {
    sum += bytes
    return sum > maxBytes
  })
  return beyond === -1 ? rows.length : Math.max(1, beyond)
}
