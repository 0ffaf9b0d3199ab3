import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { SEVERITY } from '../../server/contract/endpoints/listener-state.ts'
import type { Traffic, TrafficRange } from '../../server/contract/overview.ts'
import { StateBadge, stateLabels } from '../ui/feedback/state-badge.tsx'
import { formatCount } from '../ui/text/format-number.ts'
import { type Figures, figuresOf, format, formatStep, lastOf } from './figures.ts'
import classes from './overview.module.css'
import { StepChart } from './step-chart.tsx'

/** Shows the four figures of the server, each with a line, and all of them as a table. */
export function TrafficTiles({ traffic, range }: { traffic: Traffic; range: TrafficRange }) {
  const [at, setAt] = useState<number>()
  const { endpoints, lastMinute, steps } = traffic
  const figures = figuresOf(traffic)
  const marked = at !== undefined && at < steps.length ? at : undefined
  const moment = marked === undefined ? 'now' : formatStep(traffic, marked)
  const shareOf = (of: 'rejected' | 'failed') =>
    marked === undefined ? lastMinute[of] / Math.max(1, lastMinute.requests) : figures[of][marked]
  const rateNow = lastMinute.requests / 60
  const rates = range === '1h' ? [...figures.rate, rateNow] : figures.rate
  const rate = marked === undefined ? rateNow : figures.rate[marked]
  const latency = marked === undefined ? lastOf(figures.latency) : figures.latency[marked]
  const rejected = shareOf('rejected')
  const failed = shareOf('failed')
  const others = SEVERITY.filter((state) => state !== 'listening' && endpoints[state])
  const step = range === '1h' ? 'minute' : '10 min'
  const chart = { at: marked, onMove: setAt }
  const peakOf = (line: Figures) => {
    const known = line.filter((figure) => figure !== null)
    return known.length === 0 ? null : Math.max(...known)
  }
  return (
    <>
      <div className={classes.tiles}>
        <Tile
          title="Endpoints"
          moment={moment}
          figure={format.count(
            marked === undefined ? (endpoints.listening ?? 0) : figures.open[marked],
          )}
          unit="listening"
          detail={
            <span className={classes.states}>
              {others.map((state) => (
                <Link key={state} to="/endpoints" search={{ q: `state:${state}` }}>
                  <StateBadge
                    state={state}
                    label={`${formatCount(endpoints[state] ?? 0)} ${stateLabels[state].toLowerCase()}`}
                  />
                </Link>
              ))}
              {others.length === 0 && 'All of them are open'}
            </span>
          }
          label="Endpoints that listen"
          lines={[figures.open]}
          scale={1}
          {...chart}
        />
        <Tile
          title="Requests"
          moment={moment}
          figure={format.rate(rate)}
          unit="per second"
          detail={`Busiest ${step}: ${format.rate(peakOf(rates))}/s`}
          label="Requests per second"
          lines={[figures.rate]}
          scale={1}
          {...chart}
        />
        <Tile
          title="Rejected and failed"
          moment={moment}
          figure={format.share(rejected == null || failed == null ? null : rejected + failed)}
          unit="of requests"
          detail={
            <>
              <Link to="/endpoints/requests" className={classes.key} data-line="0">
                {format.share(rejected)} rejected
              </Link>
              <span className={classes.key} data-line="1">
                {format.share(failed)} failed
              </span>
            </>
          }
          label="Share rejected and failed"
          lines={[figures.rejected, figures.failed]}
          scale={0.02}
          tone="shares"
          {...chart}
        />
        <Tile
          title="Latency"
          moment={marked === undefined ? `last ${step}` : moment}
          figure={format.seconds(latency)}
          unit="p95"
          detail={
            <>
              Slowest {step}: {format.seconds(peakOf(figures.latency))}
              <Link
                to="/overview"
                search={{ ...(range === '24h' && { range }), by: 'endpoint' }}
                replace
              >
                Slowest endpoints
              </Link>
            </>
          }
          label="95th percentile of the latency"
          lines={[figures.latency]}
          scale={0.001}
          {...chart}
        />
      </div>
      <TrafficTable traffic={traffic} range={range} />
    </>
  )
}

interface TileProps {
  readonly title: string
  /** The time of the figure. */
  readonly moment: string
  readonly figure: string
  readonly unit: string
  readonly detail: ReactNode
  readonly label: string
  readonly lines: readonly Figures[]
  readonly scale: number
  readonly tone?: 'shares'
  readonly at: number | undefined
  readonly onMove: (at: number | undefined) => void
}

function Tile({ title, moment, figure, unit, detail, tone, label, ...chart }: TileProps) {
  return (
    <section className={classes.tile} data-tone={tone} aria-label={title}>
      <h2 className={classes.title}>
        {title} <span className={classes.moment}>{moment}</span>
      </h2>
      <p className={classes.figure} data-live>
        <strong>{figure}</strong> {unit}
      </p>
      <StepChart label={label} words={`${moment}: ${figure} ${unit}`} {...chart} />
      <div className={classes.detail}>{detail}</div>
    </section>
  )
}

/** The figures of the tiles as a table, which is rendered once it is opened. */
function TrafficTable({ traffic, range }: { traffic: Traffic; range: TrafficRange }) {
  const [isOpen, setOpen] = useState(false)
  const figures = figuresOf(traffic)
  const hasOpen = traffic.steps.some((step) => step?.open !== undefined)
  const columns = [
    ...(hasOpen ? [{ head: 'Listening', line: figures.open, of: format.count }] : []),
    { head: 'Requests/s', line: figures.rate, of: format.rate },
    { head: 'Rejected', line: figures.rejected, of: format.share },
    { head: 'Failed', line: figures.failed, of: format.share },
    { head: 'p95 latency', line: figures.latency, of: format.seconds },
  ]
  return (
    <details
      className={classes.numbers}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>Show as a table</summary>
      {isOpen && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
        <section className={classes.scroller} tabIndex={0} aria-label="Traffic">
          <table>
            <caption className="visually-hidden">
              Traffic of the last {range === '1h' ? 'hour' : '24 hours'}, newest first
            </caption>
            <thead>
              <tr>
                <th scope="col">Until</th>
                {columns.map(({ head }) => (
                  <th key={head} scope="col">
                    {head}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {[...traffic.steps.keys()].reverse().map((at) => (
                <tr key={at}>
                  <th scope="row">{formatStep(traffic, at)}</th>
                  {columns.map(({ head, line, of }) => (
                    <td key={head}>{of(line[at])}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </details>
  )
}
