/** Which slot each row in the page has; the slots of rows that are there together differ. */
export type RowSlots = ReadonlyMap<string, number>

/**
 * Gives rows slots, which they keep as long as they are in the page. Where most of them are others
 * than before, as after a letter in the filter, those take over the slots of the ones that went: what
 * is drawn in a slot is then changed, which takes half as long as to draw it anew.
 *
 * @param held rows whose slots nobody takes over: the focus may be in them.
 */
export function assignSlots(
  before: RowSlots,
  ids: readonly string[],
  held: readonly (string | undefined)[],
): RowSlots {
  const stay = ids.filter((id) => before.has(id)).length
  const wanted = new Set(ids)
  // While one scrolls most rows stay, and would have to move past those that are taken over.
  const free =
    stay * 2 > ids.length
      ? []
      : [...before].filter(([id]) => !wanted.has(id) && !held.includes(id)).map(([, slot]) => slot)
  let next = Math.max(-1, ...before.values()) + 1
  return new Map(ids.map((id) => [id, before.get(id) ?? free.shift() ?? next++]))
}
