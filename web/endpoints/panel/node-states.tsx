import { Button } from '@mantine/core'
import type { ListenerStatus } from '../../../server/contract/endpoints/listener.ts'
import { useHasRole } from '../../shared/session/person.ts'
import { Countdown } from '../../shared/ui/feedback/countdown.tsx'
import { StateBadge } from '../../shared/ui/feedback/state-badge.tsx'
import { UnreachableSince } from '../../shared/ui/feedback/unreachable-since.tsx'
import { keepFocus } from '../../shared/ui/layout/keep-focus.ts'
import { exactTime, formatAgo } from '../../shared/ui/text/relative-time.tsx'
import { useClock } from '../../shared/ui/text/use-clock.ts'
import { isWildcardText } from '../model/admin-access.ts'
import { stateOf } from '../model/endpoint-rows.ts'
import { useListenerActions } from '../use-listener-actions.ts'
import classes from './node-states.module.css'
import { PanelSection } from './panel-section.tsx'

/** Shows the state of an endpoint on each node, with its reason and actions. */
export function NodeStates(props: {
  address: string
  listeners: readonly ListenerStatus[]
  gone: boolean
}) {
  const { address, listeners, gone } = props
  const mayChange = useHasRole('operator')
  const { retry, cut, problem } = useListenerActions()
  return (
    <PanelSection title="State">
      <ul className={classes.nodes}>
        {listeners.map((listener) => (
          <li key={`${listener.node} ${listener.state === 'draining'}`} className={classes.node}>
            <div className={classes.line}>
              <StateBadge
                state={stateOf(listener)}
                detail={listener.silentSince && <UnreachableSince since={listener.silentSince} />}
              />
              <span className={`mono ${classes.name}`} data-tip={`Node ${listener.node}`}>
                {listener.node}
              </span>
              {listener.silentSince === undefined && <Since time={listener.since} />}
            </div>
            <Reason listener={listener} />
            {mayChange && stateOf(listener) === 'failed' && !gone && (
              <Button ref={keepFocus} variant="default" onClick={() => retry(address)}>
                Try now
              </Button>
            )}
            {mayChange && listener.state === 'draining' && (
              <Button ref={keepFocus} variant="default" onClick={() => cut(address)}>
                Close now
              </Button>
            )}
          </li>
        ))}
        {listeners.length === 0 && gone && <li>Closed on all nodes.</li>}
        {listeners.length === 0 && !gone && (
          <li className={classes.node}>
            <StateBadge state="unknown" detail="no data yet" />
          </li>
        )}
      </ul>
      <p role="alert" className={classes.problem}>
        {problem}
      </p>
    </PanelSection>
  )
}

/** The last known state of an endpoint on an unreachable node. */
const lastKnown: Readonly<Record<ListenerStatus['state'], string>> = {
  listening: 'Last known state: listening.',
  opening: 'Last known state: opening.',
  failed: 'Last known state: failed.',
  draining: 'Last known state: draining.',
  elsewhere: 'Last known state: not running on this node.',
}

/** Explains a state and what happens next. */
function Reason({ listener }: { listener: ListenerStatus }) {
  const { error, nextTry, drainUntil, connections, bound } = listener
  const state = stateOf(listener)
  if (state === 'unknown') {
    return <p className={classes.reason}>{lastKnown[listener.state]}</p>
  }
  if (state === 'failed') {
    return (
      <p className={classes.reason}>
        {error}
        {nextTry !== null && (
          <span className="dim">
            {' '}
            Next retry in <Countdown to={Date.parse(nextTry)} />.
          </span>
        )}
      </p>
    )
  }
  if (state === 'draining') {
    const some = connections === 1 ? '1 connection' : `${connections} connections`
    return (
      <p className={classes.reason}>
        Removed. New connections are refused. {some} left
        {drainUntil !== null && (
          <>
            , closed in <Countdown to={Date.parse(drainUntil)} />
          </>
        )}
        .
      </p>
    )
  }
  if (state === 'elsewhere') {
    return (
      <p className={classes.reason}>
        The address belongs to another machine, or another node has the port.
      </p>
    )
  }
  if (bound === undefined) return null
  const isExposed = bound.startsWith('tcp:') && isWildcardText(bound)
  return (
    <p className={classes.reason}>
      Bound to <span className="mono">{bound}</span>.
      {isExposed && ' Other machines can reach it. Tokens and documents are sent unencrypted.'}
    </p>
  )
}

/** Shows a duration, "for 3 min", with its exact start as a tooltip. */
function Since({ time }: { time: string }) {
  const moment = Date.parse(time)
  const span = useClock((now) => formatAgo(now - moment).replace(/ ago$/, ''))
  return (
    <time
      dateTime={time}
      data-tip={`Since ${exactTime(moment)}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: focus shows the exact time
      tabIndex={0}
      className={classes.since}
    >
      {span === 'now' ? 'just now' : `for ${span}`}
    </time>
  )
}
