export interface Portion<Row> {
  readonly rows: readonly Row[]
  /** Size of the rows together. */
  readonly bytes: number
}

/** Yields rows in portions of limited size. A larger row is a portion of its own. */
export function* portionsOf<Row extends { readonly bytes: number }>(
  rows: readonly Row[],
  limit: { readonly documents?: number; readonly bytes: number },
): Generator<Portion<Row>> {
  const { documents = rows.length } = limit
  for (let from = 0; from < rows.length; ) {
    const next = rows.slice(from, from + documents)
    const some = next.slice(0, limitBytes(next, limit.bytes))
    yield { rows: some, bytes: some.reduce((sum, { bytes }) => sum + bytes, 0) }
    from += some.length
  }
}

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
