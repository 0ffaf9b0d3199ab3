import { useQuery } from '@tanstack/react-query'
import { formatSeconds, percentileOf } from '../../shared/response-times.ts'
import { NO_FIGURE } from '../../ui/text/format-number.ts'
import { NodeStates } from './node-states.tsx'
import { PanelSection } from './panel-section.tsx'
import { responseTimesQuery } from './queries.ts'
import figures from './traffic/traffic-section.module.css'
import { TrafficSection } from './traffic/traffic-section.tsx'
import type { PanelEndpoint } from './use-panel-endpoint.ts'

/** The state of an endpoint on each node, its traffic and its response times. */
export function StatusTab({ endpoint }: { endpoint: PanelEndpoint }) {
  const { address, listeners, figures: counted, goneAt } = endpoint
  const gone = goneAt !== undefined
  return (
    <>
      <NodeStates address={address} listeners={listeners} gone={gone} />
      <TrafficSection address={address} listeners={counted} over={gone} />
      {!gone && <ResponseTimes address={address} />}
    </>
  )
}

const percentiles = [
  { name: 'Median', percent: 50 },
  { name: '95th percentile', percent: 95 },
  { name: '99th percentile', percent: 99 },
]

/** The response times of the last hour, of all nodes together. */
function ResponseTimes({ address }: { address: string }) {
  const { data } = useQuery(responseTimesQuery(address))
  if (data === undefined) return null
  const durations = data.bounds
    .concat(0)
    .map((_, bucket) => data.steps.reduce((sum, step) => sum + (step?.durations[bucket] ?? 0), 0))
  const of = (percent: number) => {
    const seconds = percentileOf(durations, data.bounds, percent)
    return seconds === null ? NO_FIGURE : formatSeconds(seconds)
  }
  return (
    <PanelSection title="Response times" action={<span className="meta dim">last hour</span>}>
      <dl className={figures.figures}>
        {percentiles.map(({ name, percent }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd data-live>{of(percent)}</dd>
          </div>
        ))}
      </dl>
    </PanelSection>
  )
}
