/** A row that is in the page, or the room that those take which are not. */
export type RowOrGap =
  | { readonly index: number }
  | { readonly gap: number; readonly before: number }

/** What stands where: rows at their places, with room between those that do not touch; in pixels. */
export function rowsAndGaps(
  items: readonly { readonly index: number; readonly start: number; readonly end: number }[],
  { from, to }: { readonly from: number; readonly to: number },
): RowOrGap[] {
  let end = from
  const all: RowOrGap[] = []
  for (const item of items) {
    if (item.start > end) all.push({ gap: item.start - end, before: item.index })
    all.push({ index: item.index })
    end = item.end
  }
  if (to > end) all.push({ gap: to - end, before: -1 })
  return all
}

/** The indexes to be in the page: those of the range, and the one that may have the focus. */
export const withActive = (range: readonly number[], active: number, count: number): number[] =>
  active >= count || range.includes(active) ? [...range] : [...range, active].sort((a, b) => a - b)
