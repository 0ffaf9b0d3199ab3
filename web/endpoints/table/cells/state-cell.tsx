import { decisiveListeners, stateOf } from '../../../../server/contract/endpoints/listener-state.ts'
import { Countdown, UnreachableSince } from '../../../ui/feedback/countdown.tsx'
import { StateBadge } from '../../../ui/feedback/state-badge.tsx'
import { formatSince } from '../../../ui/text/relative-time.tsx'
import type { EndpointRow } from '../../model/endpoint-rows.ts'

/** Shows the state of a row, the most severe of its reachable nodes, and what happens next. */
export function StateCell({
  row,
}: {
  row: Pick<EndpointRow, 'state' | 'lead' | 'listeners' | 'connections'>
}) {
  const { state, lead, listeners, connections } = row
  if (state === 'failed' && lead?.failingSince !== undefined) {
    return (
      <StateBadge state={state} detail={`since ${formatSince(Date.parse(lead.failingSince))}`} />
    )
  }
  if (lead?.state === 'draining' && lead.drainUntil !== null) {
    const left = (
      <>
        {connections} left, <Countdown to={Date.parse(lead.drainUntil)} />
      </>
    )
    return <StateBadge state={state} detail={left} />
  }
  if (lead?.silentSince !== undefined) {
    return <StateBadge state={state} detail={<UnreachableSince since={lead.silentSince} />} />
  }
  const checked = decisiveListeners(listeners)
  const alike = checked.filter((listener) => stateOf(listener) === state).length
  const some = alike < checked.length ? `on ${alike} of ${checked.length}` : undefined
  return <StateBadge state={state} detail={state === 'unknown' ? 'no data yet' : some} />
}
