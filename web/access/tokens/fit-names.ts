/**
 * How many of these names stand in one line; always one at least, which is cut where it is too long.
 *
 * @param room how many characters the line takes; a comma counts as one, and so many as `+12` has
 *   are kept where not all of them fit.
 */
export function fitNames(names: readonly string[], room: number): number {
  const length = (count: number) =>
    names.slice(0, count).reduce((sum, name) => sum + name.length + 1, -1)
  if (length(names.length) <= room) return names.length
  let count = 1
  while (count + 1 < names.length && length(count + 1) <= room - COUNT) count += 1
  return count
}

/** The characters of a count such as `+12`, and of the space before it. */
const COUNT = 4
