/** Which slot each row in the page has; the slots of rows that are there together differ. */
export type RowSlots = ReadonlyMap<string, number>

/**
 * Gives rows slots, which they keep while most of the rows stay, as when one scrolls. Where most are
 * others than before, as after a letter in the filter, they take over the slots in order: what is
 * drawn in a slot is then changed where it stands, which takes half as long as to draw it anew or to
 * move it.
 *
 * @param held rows that keep theirs in any case: the focus is in them.
 */
export function assignSlots(
  before: RowSlots,
  ids: readonly string[],
  held: readonly (string | undefined)[],
): RowSlots {
  const most = ids.filter((id) => before.has(id)).length * 2 > ids.length
  const keeps = (id: string) => most || held.includes(id)
  const free = [...before].filter(([id]) => !keeps(id)).map(([, slot]) => slot)
  let next = Math.max(-1, ...before.values()) + 1
  return new Map(ids.map((id) => [id, (keeps(id) ? before.get(id) : free.shift()) ?? next++]))
}
