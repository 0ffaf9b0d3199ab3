import type { KeyboardEvent, PointerEvent } from 'react'
import type { Figures } from './figures.ts'
import classes from './overview.module.css'

const HEIGHT = 56

export interface StepChartProps {
  /** What the chart shows, such as "Requests per second". */
  readonly label: string
  /** The lines, the most important one first. */
  readonly lines: readonly Figures[]
  /** The step at the crosshair; undefined: none. */
  readonly at: number | undefined
  /** The figures at the crosshair or at the last step, for screen readers. */
  readonly words: string
  /** The least value at the top of the chart. */
  readonly scale: number
  readonly onMove: (at: number | undefined) => void
}

/** Draws figures as lines with gaps, and a crosshair that follows the pointer and the arrow keys. */
export function StepChart({ label, lines, at, words, scale, onMove }: StepChartProps) {
  const last = (lines[0]?.length ?? 1) - 1
  const highest = Math.max(scale, ...lines.flatMap((line) => line.map((figure) => figure ?? 0)))
  const toY = (figure: number) => HEIGHT - 1 - (figure / highest) * (HEIGHT - 6)
  const follow = ({ currentTarget, clientX }: PointerEvent) => {
    const { left, width } = currentTarget.getBoundingClientRect()
    onMove(clamp(Math.round(((clientX - left) / width) * last), last))
  }
  const onKey = (event: KeyboardEvent) => {
    const now = at ?? last
    const page = Math.round(last / 6)
    const target = {
      ArrowLeft: now - 1,
      ArrowDown: now - 1,
      ArrowRight: now + 1,
      ArrowUp: now + 1,
      PageDown: now - page,
      PageUp: now + page,
      Home: 0,
      End: last,
    }[event.key]
    if (target === undefined) return
    event.preventDefault()
    event.stopPropagation()
    onMove(clamp(target, last))
  }
  const marked = at === undefined ? undefined : lines.map((line) => line[at] ?? null)
  return (
    <div
      className={classes.chart}
      role="slider"
      tabIndex={0}
      aria-label={`${label}, time`}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={at ?? last}
      aria-valuetext={words}
      onPointerMove={follow}
      onPointerDown={follow}
      onPointerLeave={() => onMove(undefined)}
      onBlur={() => onMove(undefined)}
      onKeyDown={onKey}
    >
      <svg viewBox={`0 0 ${last} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {lines.map((line, index) =>
          runsOf(line).map(([from, figures]) => {
            const points = figures.map((figure, step) => `${from + step} ${round(toY(figure))}`)
            // A single step between gaps is as wide as half a step.
            const path = `M${points.join('L')}${points.length === 1 ? 'h.5' : ''}`
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a chart stay the same
              <g key={`${index} ${from}`} data-line={index}>
                {index === 0 && <path className={classes.area} d={`${path}V${HEIGHT}H${from}Z`} />}
                <path className={classes.line} d={path} vectorEffect="non-scaling-stroke" />
              </g>
            )
          }),
        )}
      </svg>
      {lines.every((line) => line.every((figure) => figure === null)) && (
        <p className={classes.none}>No samples yet: there is one each minute</p>
      )}
      {at !== undefined && (
        <div className={classes.crosshair} style={{ left: `${(at / Math.max(1, last)) * 100}%` }}>
          {marked?.map(
            (figure, index) =>
              figure !== null && (
                <span
                  // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a chart stay the same
                  key={index}
                  data-line={index}
                  style={{ top: `${(toY(figure) / HEIGHT) * 100}%` }}
                />
              ),
          )}
        </div>
      )}
    </div>
  )
}

const clamp = (at: number, last: number) => Math.min(last, Math.max(0, at))

const round = (number: number) => Math.round(number * 10) / 10

/** Returns the runs of known figures, each with the step at which it begins. */
function runsOf(line: Figures): [from: number, figures: number[]][] {
  const runs: [number, number[]][] = []
  for (const [at, figure] of line.entries()) {
    if (figure === null) continue
    if (at > 0 && line[at - 1] !== null) runs.at(-1)?.[1].push(figure)
    else runs.push([at, [figure]])
  }
  return runs
}
