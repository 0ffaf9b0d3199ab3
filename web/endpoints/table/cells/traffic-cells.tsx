import { memo, useSyncExternalStore } from 'react'
import { RelativeTime } from '../ui/relative-time.tsx'
import type { EndpointRow } from './endpoint-rows.ts'
import { hasFigures } from './endpoint-sort.ts'
import classes from './endpoint-table.module.css'
import type { Figures, LiveFigures } from './live-figures.ts'
import { RateLine } from './rate-line.tsx'
import { NO_FIGURE, sayCount, sayRate } from './traffic.ts'

/** The figures of a row as they are now. */
export const useFigures = (row: EndpointRow, figures: LiveFigures): Figures =>
  useSyncExternalStore(
    (listener) => figures.subscribe(row.id, listener),
    () => figures.get(row.id),
  ) ?? row

/** Figures, or in their place the reason why there are none. Draws itself again by itself. */
export const TrafficCells = memo(function TrafficCells(props: {
  row: EndpointRow
  figures: LiveFigures
  line: boolean
  /** Whether there is room for the connections alone. */
  beside: boolean
  tabIndex: number
}) {
  const { row, line, beside, tabIndex } = props
  const figures = useFigures(row, props.figures)
  if (row.state === 'failed' && row.lead?.error && !beside) {
    return (
      <td colSpan={3} className={classes.reason}>
        <span data-tip={row.lead.error} tabIndex={tabIndex}>
          {row.lead.error}
        </span>
      </td>
    )
  }
  const known = hasFigures(row)
  const connections = (
    <td className={classes.connections} data-live>
      {known ? sayCount(figures.connections) : NO_FIGURE}
    </td>
  )
  if (beside) return connections
  return (
    <>
      {connections}
      <td className={classes.rate} data-live>
        <span className={classes.rateLine}>
          {line && known && <RateLine recent={figures.recent} />}
          {known ? sayRate(figures.requestsPerSecond) : NO_FIGURE}
        </span>
      </td>
      <td className={classes.last} data-live>
        {figures.lastRequest === null ? (
          NO_FIGURE
        ) : (
          <RelativeTime time={figures.lastRequest} tabIndex={tabIndex} />
        )}
      </td>
    </>
  )
})
