/** A rectangle in the viewport, in px. */
export interface Rect {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

/** Gap between a tooltip and its element, in px. */
export const OFFSET = 4

/** Minimum gap between a tooltip and the edge of the viewport, in px, as in Mantine's shift. */
const EDGE = 8

const SIDES = ['bottom', 'top', 'right', 'left'] as const

export type Side = (typeof SIDES)[number]

/**
 * Returns the side on which a tooltip covers the fewest controls. Ties go to the first of bottom,
 * top, right, and left. Returns bottom if no side has room.
 */
export function chooseSide(
  element: Rect,
  size: { readonly width: number; readonly height: number },
  controls: readonly Rect[],
  view: { readonly width: number; readonly height: number },
): Side {
  let best: { side: Side; covered: number } | undefined
  for (const side of SIDES) {
    const box = placed(side, element, size, view)
    if (box === undefined) continue
    const covered = controls.filter((control) => overlaps(box, control)).length
    if (best === undefined || covered < best.covered) best = { side, covered }
    if (covered === 0) break
  }
  return best?.side ?? 'bottom'
}

/** Returns the tooltip's position, shifted into the viewport; undefined if it does not fit. */
function placed(
  side: Side,
  element: Rect,
  { width, height }: { readonly width: number; readonly height: number },
  view: { readonly width: number; readonly height: number },
): Rect | undefined {
  const within = (at: number, length: number, room: number) =>
    Math.max(EDGE, Math.min(at, room - length - EDGE))
  const middle = within((element.left + element.right - width) / 2, width, view.width)
  const level = within((element.top + element.bottom - height) / 2, height, view.height)
  const left = {
    bottom: middle,
    top: middle,
    right: element.right + OFFSET,
    left: element.left - OFFSET - width,
  }[side]
  const top = {
    bottom: element.bottom + OFFSET,
    top: element.top - OFFSET - height,
    right: level,
    left: level,
  }[side]
  const box = { left, top, right: left + width, bottom: top + height }
  const fits = box.left >= 0 && box.top >= 0 && box.right <= view.width && box.bottom <= view.height
  return fits ? box : undefined
}

const overlaps = (a: Rect, b: Rect): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
