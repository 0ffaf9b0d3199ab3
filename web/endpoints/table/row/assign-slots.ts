/** The slot of each rendered row, unique among the rendered rows. */
export type RowSlots = ReadonlyMap<string, number>

/**
 * Assigns a slot to each row, used as its React key. Rows keep their slots while more than half of
 * them stay, as when scrolling. Otherwise, as after a keystroke in the filter, new rows reuse the
 * free slots in order: updating a row in place takes half as long as creating or moving it.
 *
 * @param held rows that always keep their slots, because they have the focus or an open menu.
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
