/**
 * Returns how many names fit on one line. The minimum is one; the caller truncates it if it is too
 * long.
 *
 * @param room characters per line. A comma counts as one. If some names do not fit, space for a
 *   count such as `+12` is reserved.
 */
export function countVisibleNames(names: readonly string[], room: number): number {
  const length = (count: number) =>
    names.slice(0, count).reduce((sum, name) => sum + name.length + 1, -1)
  if (length(names.length) <= room) return names.length
  let count = 1
  while (count + 1 < names.length && length(count + 1) <= room - COUNT) count += 1
  return count
}

/** Characters of a count such as `+12` and the space before it. */
const COUNT = 4
