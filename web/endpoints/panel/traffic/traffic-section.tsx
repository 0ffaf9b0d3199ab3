import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useMemo, useState } from 'react'
import type { ListenerStatus } from '../../../server/contract/listener.ts'
import { ChoiceGroup } from '../../ui/choice-group.tsx'
import { LoadFailure } from '../../ui/load-failure.tsx'
import { RelativeTime } from '../../ui/relative-time.tsx'
import { NO_FIGURE, sayCount, sayRate } from '../traffic.ts'
import { PanelSection } from './panel-section.tsx'
import { trafficQuery } from './queries.ts'
import classes from './traffic-section.module.css'
import { knownPart, sayBytes, sayTraffic, seriesOf, type TrafficKind } from './traffic-series.ts'

const TrafficChart = lazy(async () => ({
  default: (await import('./traffic-chart.tsx')).TrafficChart,
}))

const kinds = [
  { value: 'requests', label: 'Requests' },
  { value: 'bytes', label: 'Bytes' },
  { value: 'connections', label: 'Connections' },
] as const

/** What went through an endpoint: now, and in the last hour, as a chart and in words. */
export function TrafficSection(props: {
  address: string
  listeners: readonly ListenerStatus[]
  /** Whether nothing more can come: what is shown stays. */
  over: boolean
}) {
  const { address, listeners, over } = props
  const [kind, setKind] = useState<TrafficKind>('requests')
  const { data, error, refetch } = useQuery({ ...trafficQuery(address), enabled: !over })
  const series = useMemo(() => data && knownPart(seriesOf(data, kind)), [data, kind])
  const told = new Set(data?.nodes.map(({ node }) => node))
  const silent = listeners.filter(({ node }) => data !== undefined && !told.has(node))
  return (
    <PanelSection title="Traffic">
      <Figures listeners={listeners} />
      <div className={classes.kinds}>
        <ChoiceGroup label="Chart of" inline choices={kinds} value={kind} onChange={setKind} />
      </div>
      {data === undefined && error !== null && (
        <LoadFailure what="The last hour" error={error} onRetry={() => void refetch()} />
      )}
      {data === undefined && error === null && !over && <div className={classes.place} />}
      {data !== undefined && series !== undefined && (
        <>
          <Suspense fallback={<div className={classes.place} />}>
            <TrafficChart key={kind} kind={kind} series={series} />
          </Suspense>
          <p className={classes.summary} data-live>
            {sayTraffic(data, kind)}
            {silent.length > 0 &&
              ` Counted at ${data.nodes.map(({ node }) => node).join(', ')} alone.`}
          </p>
        </>
      )}
    </PanelSection>
  )
}

/** The counters of all nodes that are heard of together, as they are now. */
function Figures(props: { listeners: readonly ListenerStatus[] }) {
  const listeners = props.listeners.filter(({ silentSince }) => silentSince === undefined)
  const sum = (of: (listener: ListenerStatus) => number) =>
    listeners.reduce((total, listener) => total + of(listener), 0)
  const known = listeners.length > 0
  const last = listeners
    .flatMap(({ lastRequest }) => lastRequest ?? [])
    .toSorted()
    .at(-1)
  const figures = [
    ['Connections', known ? sayCount(sum(({ connections }) => connections)) : NO_FIGURE],
    ['Requests/s', known ? sayRate(sum(({ requestsPerSecond }) => requestsPerSecond)) : NO_FIGURE],
    ['Requests', known ? sayCount(sum(({ requests }) => requests)) : NO_FIGURE],
    ['Received', known ? sayBytes(sum(({ bytesIn }) => bytesIn)) : NO_FIGURE],
    ['Sent', known ? sayBytes(sum(({ bytesOut }) => bytesOut)) : NO_FIGURE],
  ] as const
  return (
    <dl className={classes.figures}>
      {figures.map(([name, figure]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd data-live>{figure}</dd>
        </div>
      ))}
      <div>
        <dt>Last request</dt>
        <dd data-live>
          {last === undefined ? NO_FIGURE : <RelativeTime time={last} tabIndex={0} />}
        </dd>
      </div>
    </dl>
  )
}
