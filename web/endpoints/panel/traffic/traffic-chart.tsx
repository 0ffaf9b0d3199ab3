import 'uplot/dist/uPlot.min.css'
import { useComputedColorScheme } from '@mantine/core'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import uPlot from 'uplot'
import { useLatest } from '../../../ui/use-latest.ts'
import classes from './traffic-chart.module.css'
import {
  formatFigure,
  formatMinute,
  formatMoment,
  formatTick,
  type TrafficKind,
  type TrafficSeries,
} from './traffic-series.ts'

export interface TrafficChartProps {
  readonly kind: TrafficKind
  readonly series: TrafficSeries
}

const HEIGHT = 168

/** One minute and 15 minutes, in samples. */
const [STEP, LEAP] = [12, 180]

/**
 * Draws the last hour as a chart with gaps where there is no data, and shows the figures at the
 * pointer or at the sample chosen with the arrow keys.
 */
export function TrafficChart({ kind, series }: TrafficChartProps) {
  const container = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(undefined)
  const [at, setAt] = useState<number>()
  const scheme = useComputedColorScheme('light')
  const latest = useLatest(series)

  useEffect(() => {
    const box = container.current
    if (box === null) return
    const drawn = new uPlot(
      { ...optionsOf(kind), width: box.clientWidth, hooks: { setCursor: [follow] } },
      dataOf(latest.current),
      box,
    )
    plot.current = drawn
    function follow({ cursor }: uPlot): void {
      setAt(cursor.left === undefined || cursor.left < 0 ? undefined : (cursor.idx ?? undefined))
    }
    const watch = new ResizeObserver(() =>
      drawn.setSize({ width: box.clientWidth, height: HEIGHT }),
    )
    watch.observe(box)
    return () => {
      watch.disconnect()
      drawn.destroy()
      plot.current = undefined
    }
  }, [kind, latest])

  useEffect(() => {
    plot.current?.setData(dataOf(series))
  }, [series])

  const drawnIn = useRef(scheme)
  useEffect(() => {
    if (drawnIn.current === scheme) return
    drawnIn.current = scheme
    plot.current?.redraw()
  }, [scheme])

  const last = series.times.length - 1
  const shown = Math.min(at ?? last, last)
  const words = formatAt(kind, series, shown)
  const goTo = (index: number) => {
    const drawn = plot.current
    if (drawn === undefined) return
    const time = series.times[Math.max(0, Math.min(last, index))] ?? 0
    drawn.setCursor({ left: drawn.valToPos(time, 'x'), top: 0 })
  }
  const onKey = (event: KeyboardEvent) => {
    const target = keyTargets(shown, last)[event.key]
    if (target === undefined) return
    event.preventDefault()
    event.stopPropagation()
    goTo(target)
  }
  return (
    <>
      <div
        ref={container}
        className={classes.chart}
        role="slider"
        tabIndex={0}
        aria-label="Time within the last hour"
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={shown}
        aria-valuetext={words}
        onKeyDown={onKey}
        onBlur={() => plot.current?.setCursor({ left: -10, top: -10 })}
      />
      <p className={classes.readout} data-kind={kind} aria-hidden="true">
        <span className={classes.moment}>{formatMoment(series.times[shown] ?? 0)}</span>
        {series.figures.map(({ unit, values }, index) => (
          <span key={unit} className={classes.figure}>
            <svg
              viewBox="0 0 16 8"
              width="16"
              height="8"
              className={classes.swatch}
              data-of={index}
              aria-hidden="true"
            >
              <path d="M0 4h16" stroke="currentColor" strokeWidth="2" />
            </svg>
            {formatFigure(kind, values[shown])} {unit}
          </span>
        ))}
      </p>
    </>
  )
}

/** Extends each sample to the start of the next one, and the last to the end of the series. */
const dataOf = ({ times, end, figures }: TrafficSeries) =>
  [
    [...times, end],
    ...figures.map(({ values }) => [...values, values.at(-1) ?? null]),
  ] as uPlot.AlignedData

const keyTargets = (at: number, last: number): Readonly<Record<string, number>> => ({
  ArrowLeft: at - 1,
  ArrowRight: at + 1,
  ArrowDown: at - STEP,
  ArrowUp: at + STEP,
  PageDown: at - LEAP,
  PageUp: at + LEAP,
  Home: 0,
  End: last,
})

/** Formats the figures of one sample for screen readers. */
const formatAt = (kind: TrafficKind, { times, figures }: TrafficSeries, at: number): string =>
  [
    formatMoment(times[at] ?? 0),
    ...figures.map(({ unit, values }) => {
      const figure = values[at] ?? null
      return figure === null ? `${unit} unknown` : `${formatFigure(kind, figure)} ${unit}`
    }),
  ].join(', ')

/** Returns the value of a color in tokens.css for the current color scheme. */
const token = (name: string) => () =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim()

const FONT = '12px "Geist Variable", system-ui, sans-serif'

function optionsOf(kind: TrafficKind): uPlot.Options {
  const axis = { font: FONT, stroke: token('--dim'), ticks: { show: false } }
  const grid = { stroke: token('--line'), width: 1 }
  const line = { width: 1.5, points: { show: false }, paths: uPlot.paths.stepped?.({ align: 1 }) }
  const second =
    kind === 'connections' ? [] : [{ ...line, stroke: token(SECOND[kind]), dash: [4, 2] }]
  return {
    width: 0,
    height: HEIGHT,
    // The right padding fits half of a time label at the end of the axis.
    padding: [12, 18, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: {
      x: { range: (plot) => [plot.data[0][0], plot.data[0].at(-1)] },
      y: { range: (_, _least, most) => [0, Math.max(1, (most ?? 0) * 1.1)] },
    },
    axes: [
      {
        ...axis,
        size: 28,
        grid: { show: false },
        values: (_, splits) => splits.map(formatMinute),
        space: 72,
      },
      {
        ...axis,
        size: kind === 'bytes' ? 60 : 44,
        gap: 8,
        grid,
        values: (_, splits) => splits.map((split) => formatTick(kind, split)),
        space: 36,
      },
    ],
    series: [
      {},
      { ...line, stroke: token('--link'), fill: () => `${token('--link')()}1f` },
      ...second,
    ],
  } as uPlot.Options
}

const SECOND = { requests: '--failed', bytes: '--listening' } as const
