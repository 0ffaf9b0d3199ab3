import { Button } from '@mantine/core'
import type { ListenerStatus } from '../../../server/contract/endpoints/listener.ts'
import { stateOf } from '../../../server/contract/endpoints/listener-state.ts'
import { useHasRole } from '../../api/session/person.ts'
import { Countdown, UnreachableSince } from '../../ui/feedback/countdown.tsx'
import { StateBadge } from '../../ui/feedback/state-badge.tsx'
import { keepFocus } from '../../ui/layout/keep-focus.ts'
import { CopyLine } from '../../ui/text/copy-line.tsx'
import { exactTime, formatAgo, formatSince } from '../../ui/text/relative-time.tsx'
import { useClock } from '../../ui/text/use-clock.ts'
import { isWildcardText } from '../model/admin-access.ts'
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
  const { retry, closeConnections, problem } = useListenerActions()
  return (
    <PanelSection title="Nodes">
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
              {listener.silentSince === undefined && <Since listener={listener} />}
            </div>
            <Reason listener={listener} />
            {mayChange && stateOf(listener) === 'failed' && !gone && (
              <Button ref={keepFocus} variant="default" onClick={() => retry(address)}>
                Try now
              </Button>
            )}
            {mayChange && listener.state === 'draining' && (
              <Button ref={keepFocus} variant="default" onClick={() => closeConnections(address)}>
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
  closed: 'Last known state: off.',
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
      <>
        <p className={classes.reason}>
          {error}
          {nextTry !== null && (
            <span className="dim">
              {' '}
              Next retry in <Countdown to={Date.parse(nextTry)} />.
            </span>
          )}
        </p>
        {listener.systemCode === 'EADDRINUSE' && !listener.endpoint.startsWith('unix:') && (
          <CopyLine
            label={`To find the program, run on ${listener.node}:`}
            text={`sudo ss -ltnp 'sport = :${listener.endpoint.split(':').at(-1)}'`}
          />
        )}
      </>
    )
  }
  if (state === 'draining') {
    const some = connections === 1 ? '1 connection' : `${connections} connections`
    return (
      <p className={classes.reason}>
        New connections are refused. {some} left
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
  if (state === 'closed') {
    return (
      <p className={classes.reason}>Turned off by its policy. It keeps its databases and rules.</p>
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

/**
 * Shows the duration of a state, "for 3 min", or since when the endpoint fails, with the exact time
 * as a tooltip.
 */
function Since({ listener: { since, failingSince, attempts } }: { listener: ListenerStatus }) {
  const moment = Date.parse(failingSince ?? since)
  const span = useClock((now) => formatAgo(now - moment).replace(/ ago$/, ''))
  return (
    <time
      dateTime={failingSince ?? since}
      data-tip={`Since ${exactTime(moment)}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: focus shows the exact time
      tabIndex={0}
      className={classes.since}
    >
      {failingSince !== undefined
        ? `Failing since ${formatSince(moment)}, ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`
        : span === 'now'
          ? 'just now'
          : `for ${span}`}
    </time>
  )
}
