import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useMemo, useState } from 'react'
import type { ListenerStatus } from '../../../../server/contract/endpoints/listener.ts'
import { stateOf } from '../../../../server/contract/endpoints/listener-state.ts'
import { LoadFailure } from '../../../ui/feedback/load-failure.tsx'
import { ChoiceGroup } from '../../../ui/form/choice-group.tsx'
import { formatBytes, formatCount, formatRate, NO_FIGURE } from '../../../ui/text/format-number.ts'
import { RelativeTime } from '../../../ui/text/relative-time.tsx'
import { PanelSection } from '../panel-section.tsx'
import { trafficQuery } from '../queries.ts'
import classes from './traffic-section.module.css'
import { formatTraffic, seriesOf, type TrafficKind, trimUnknownStart } from './traffic-series.ts'

const TrafficChart = lazy(async () => ({
  default: (await import('./traffic-chart.tsx')).TrafficChart,
}))

const kinds = [
  { value: 'requests', label: 'Requests' },
  { value: 'bytes', label: 'Bytes' },
  { value: 'connections', label: 'Connections' },
] as const

/** Shows the current traffic of an endpoint and that of the last hour, as a chart and in words. */
export function TrafficSection(props: {
  address: string
  listeners: readonly ListenerStatus[]
  /** Whether the endpoint was removed. The data is then no longer polled. */
  over: boolean
}) {
  const { address, listeners, over } = props
  const [kind, setKind] = useState<TrafficKind>('requests')
  const { data, error, refetch } = useQuery({ ...trafficQuery(address), enabled: !over })
  const series = useMemo(() => data && trimUnknownStart(seriesOf(data, kind)), [data, kind])
  const reported = new Set(data?.nodes.map(({ node }) => node))
  const silent = listeners.filter(({ node }) => data !== undefined && !reported.has(node))
  // The last hour may have traffic from before a failure.
  const isUnused = series?.figures.every(({ values }) => values.every((value) => !value)) ?? true
  const isOpen = listeners.some((one) => ['listening', 'draining'].includes(stateOf(one)))
  if (!isOpen && listeners.length > 0 && isUnused) {
    return (
      <PanelSection title="Traffic">
        <p className={classes.summary}>Not listening, so no traffic.</p>
      </PanelSection>
    )
  }
  return (
    <PanelSection title="Traffic">
      <Figures listeners={listeners} />
      <div className={classes.kinds}>
        <ChoiceGroup label="Chart of" inline choices={kinds} value={kind} onChange={setKind} />
      </div>
      {data === undefined && error !== null && (
        <LoadFailure what="The last hour" error={error} onRetry={() => void refetch()} />
      )}
      {data === undefined && error === null && !over && <div className={classes.placeholder} />}
      {data !== undefined && series !== undefined && (
        <>
          <Suspense fallback={<div className={classes.placeholder} />}>
            <TrafficChart key={kind} kind={kind} series={series} />
          </Suspense>
          <p className={classes.summary} data-live>
            {formatTraffic(data, kind)}
            {silent.length > 0 &&
              ` Counted on ${data.nodes.map(({ node }) => node).join(', ')} only.`}
          </p>
        </>
      )}
    </PanelSection>
  )
}

/** Shows the current counters, summed over all reachable nodes. */
function Figures(props: { listeners: readonly ListenerStatus[] }) {
  const listeners = props.listeners.filter(({ silentSince }) => silentSince === undefined)
  const sum = (of: (listener: ListenerStatus) => number) =>
    listeners.reduce((total, listener) => total + of(listener), 0)
  const hasListeners = listeners.length > 0
  const last = listeners
    .flatMap(({ lastRequest }) => lastRequest ?? [])
    .toSorted()
    .at(-1)
  const figures = [
    ['Connections', hasListeners ? formatCount(sum(({ connections }) => connections)) : NO_FIGURE],
    [
      'Requests/s',
      hasListeners ? formatRate(sum(({ requestsPerSecond }) => requestsPerSecond)) : NO_FIGURE,
    ],
    ['Requests', hasListeners ? formatCount(sum(({ requests }) => requests)) : NO_FIGURE],
    ['Received', hasListeners ? formatBytes(sum(({ bytesIn }) => bytesIn)) : NO_FIGURE],
    ['Sent', hasListeners ? formatBytes(sum(({ bytesOut }) => bytesOut)) : NO_FIGURE],
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
