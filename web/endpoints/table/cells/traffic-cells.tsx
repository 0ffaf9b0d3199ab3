import { memo, useSyncExternalStore } from 'react'
import { formatCount, formatRate, NO_FIGURE } from '../../../shared/ui/text/format-number.ts'
import { RelativeTime } from '../../../shared/ui/text/relative-time.tsx'
import type { EndpointRow } from '../../model/endpoint-rows.ts'
import { hasFigures } from '../../model/list/endpoint-sort.ts'
import type { Figures, LiveFigures } from '../../model/live-figures.ts'
import classes from '../endpoint-table.module.css'
import { RateLine } from './rate-line.tsx'

/** Returns the current figures of a row. */
export const useFigures = (row: EndpointRow, figures: LiveFigures): Figures =>
  useSyncExternalStore(
    (listener) => figures.subscribe(row.id, listener),
    () => figures.get(row.id),
  ) ?? row

/** Shows the figures of a row, or its error instead. Renders independently of the row. */
export const TrafficCells = memo(function TrafficCells(props: {
  row: EndpointRow
  figures: LiveFigures
  line: boolean
  /** Whether there is room only for the connections. */
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
  const isKnown = hasFigures(row)
  const connections = (
    <td className={classes.connections} data-live>
      {isKnown ? formatCount(figures.connections) : NO_FIGURE}
    </td>
  )
  if (beside) return connections
  return (
    <>
      {connections}
      <td className={classes.rate} data-live>
        <span className={classes.rateLine}>
          {line && isKnown && <RateLine recent={figures.recent} />}
          {isKnown ? formatRate(figures.requestsPerSecond) : NO_FIGURE}
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
