import { Countdown } from '../ui/countdown.tsx'
import { NoNews } from '../ui/no-news.tsx'
import { StateBadge } from '../ui/state-badge.tsx'
import { type EndpointRow, stateOf } from './endpoint-rows.ts'

/** The state of a row: the worst of its nodes, with what will happen next. */
export function StateCell({ row }: { row: EndpointRow }) {
  const { state, lead, listeners, connections } = row
  if (lead?.state === 'failed' && lead.nextTry !== null) {
    const retry = (
      <>
        next try in <Countdown to={Date.parse(lead.nextTry)} />
      </>
    )
    return <StateBadge state={state} detail={retry} />
  }
  if (lead?.state === 'draining' && lead.drainUntil !== null) {
    const left = (
      <>
        {connections} left, <Countdown to={Date.parse(lead.drainUntil)} />
      </>
    )
    return <StateBadge state={state} detail={left} />
  }
  const alike = listeners.filter((listener) => stateOf(listener) === state).length
  const some = alike < listeners.length ? `on ${alike} of ${listeners.length}` : undefined
  if (lead?.silentSince !== undefined) {
    const silence = (
      <>
        {some}
        {some === undefined ? (
          <NoNews since={lead.silentSince} />
        ) : (
          // There is no room for both; the panel tells it of each node.
          <span className="visually-hidden">
            , <NoNews since={lead.silentSince} />
          </span>
        )}
      </>
    )
    return <StateBadge state={state} detail={silence} />
  }
  return <StateBadge state={state} detail={state === 'unknown' ? 'no news yet' : some} />
}
