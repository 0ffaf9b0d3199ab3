import { memo } from 'react'

const WIDTH = 72
const HEIGHT = 20

/** Returns the maximum of a scale for rates up to `highest`: 1, 2, 5, 10, 20 and so on. */
export function roundScale(highest: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, highest)))
  return power * ([1, 2, 5].find((step) => step * power >= highest) ?? 10)
}

/**
 * Returns the points of a polyline for each run of figures without gaps. `scale` is at the top.
 */
export function linePoints(recent: readonly (number | null)[], scale: number): string[] {
  const step = WIDTH / Math.max(recent.length - 1, 1)
  const parts: string[][] = [[]]
  for (const [at, figure] of recent.entries()) {
    if (figure === null) parts.push([])
    else {
      const y = HEIGHT - 1.5 - Math.min(1, figure / scale) * (HEIGHT - 3)
      parts.at(-1)?.push(`${round(at * step)},${round(y)}`)
    }
  }
  return parts.filter(({ length }) => length > 1).map((points) => points.join(' '))
}

const round = (number: number) => Math.round(number * 10) / 10

/**
 * A sparkline of the requests per second in the last two minutes. Hidden from screen readers,
 * because the figure beside it has the latest value.
 */
export const RateLine = memo(function RateLine({
  recent,
  scale,
}: {
  recent: readonly (number | null)[] | undefined
  scale: number
}) {
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} aria-hidden="true">
      {linePoints(recent ?? [], scale).map((points) => (
        <polyline
          key={points}
          points={points}
          fill="none"
          stroke="currentColor"
          strokeWidth="1.25"
        />
      ))}
    </svg>
  )
})
