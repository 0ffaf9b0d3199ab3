import { memo, useSyncExternalStore } from 'react'
import { formatCount, formatRate, NO_FIGURE } from '../../../ui/text/format-number.ts'
import type { EndpointRow } from '../../model/endpoint-rows.ts'
import { hasFigures } from '../../model/endpoint-sort.ts'
import { errorShare, type Figures, type LiveFigures } from '../../model/live-figures.ts'
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
  /** The maximum of the scale of the sparkline; undefined if there is no room for it. */
  scale: number | undefined
  /** Whether there is room only for the connections. */
  beside: boolean
  tabIndex: number
}) {
  const { row, scale, beside, tabIndex } = props
  const figures = useFigures(row, props.figures)
  if (row.state === 'failed' && row.lead?.error && !beside) {
    return (
      <td colSpan={2}>
        <FailureReason text={row.lead.error} tabIndex={tabIndex} />
      </td>
    )
  }
  const isKnown = hasFigures(row)
  const connections = (
    <td className={classes.connections} data-live>
      {isKnown ? formatCount(figures.connections) : NO_FIGURE}
      {beside && isKnown && <ErrorShare figures={figures} />}
    </td>
  )
  if (beside) return connections
  return (
    <>
      {connections}
      <td className={classes.rate} data-live>
        <span className={classes.rateLine}>
          {scale !== undefined && isKnown && <RateLine recent={figures.recent} scale={scale} />}
          <span>
            {isKnown ? formatRate(figures.requestsPerSecond) : NO_FIGURE}
            {isKnown && <ErrorShare figures={figures} />}
          </span>
        </span>
      </td>
    </>
  )
})

/** The reason of a failure, in two lines. */
export const FailureReason = ({ text, tabIndex }: { text: string; tabIndex: number }) => (
  <span data-tip={text} tabIndex={tabIndex} className={classes.reason}>
    {text}
  </span>
)

/** Shows the share of rejected or failed requests in the last minute, if there are any. */
export function ErrorShare({ figures: { lastMinute } }: { figures: Figures }) {
  const share = errorShare(lastMinute)
  return (
    share && (
      <span className={classes.share} data-high={share.high || undefined}>
        {share.text}
        <span className="visually-hidden"> in the last minute</span>
      </span>
    )
  )
}
