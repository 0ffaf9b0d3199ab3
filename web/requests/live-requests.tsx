import { Button, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { RequestEntry } from '../../server/contract/endpoints/request.ts'
import { useConnection, useFollow } from '../api/live/live-provider.tsx'
import { nodesQuery } from '../api/queries.ts'
import { useHasRole } from '../api/session/person.ts'
import type { PolicyChange } from '../policy/policy-draft.ts'
import { NoMatch } from '../ui/feedback/no-match.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { SkeletonRows } from '../ui/feedback/skeleton-rows.tsx'
import { CodeInput } from '../ui/form/code-input.tsx'
import filterBar from '../ui/form/filter-bar.module.css'
import { formatCount } from '../ui/text/format-number.ts'
import { labelRejection } from './describe-request.ts'
import classes from './live-requests.module.css'
import { RequestTable } from './request-table.tsx'
import {
  addBatch,
  keyOf,
  NO_FILTER,
  NOT_ADMITTED,
  type Tail,
  type TailFilter,
  toMatch,
  toStreamQuery,
} from './tail.ts'

const notAdmitted = { value: NOT_ADMITTED, label: labelRejection(NOT_ADMITTED) }

const statuses = [
  { value: '', label: 'All requests' },
  { value: 'rejected', label: 'Rejected' },
  notAdmitted,
  { value: '2xx', label: '2xx success' },
  { value: '3xx', label: '3xx redirect' },
  { value: '4xx', label: '4xx client error' },
  { value: '5xx', label: '5xx server error' },
]

/** The statuses of rejected requests. */
const rejectedStatuses = [
  { value: '', label: 'All rejections' },
  notAdmitted,
  { value: '401', label: '401 unauthorized' },
  { value: '403', label: '403 forbidden' },
  { value: '404', label: '404 not found' },
  { value: '413', label: '413 too large' },
  { value: '421', label: '421 wrong host' },
  { value: '429', label: '429 too many' },
]

/** The requests that are shown while the tail is paused. */
interface Held {
  readonly query: string
  readonly requests: readonly RequestEntry[]
  /** The key of the row whose details are shown. */
  readonly open: string | undefined
  /** Whether the tail stays paused when the row is closed. */
  readonly stays: boolean
}

export interface LiveRequestsProps {
  /** The address of an endpoint; undefined for the rejected requests of all endpoints. */
  readonly endpoint?: string
  /** Returns whether the requests of an endpoint are shown. Default: all are. */
  readonly isShown?: (endpoint: string) => boolean
  /** Another filter of the page, shown beside the filter of requests. */
  readonly children?: ReactNode
  /** Clears the other filter. */
  readonly onClear?: () => void
  /** Opens the form of a policy with a change of its clients. */
  readonly onChangePolicy: (endpoint: string, change: PolicyChange) => void
}

/** A live tail of requests, newest first. An open row pauses it, so that rows do not move. */
export function LiveRequests(props: LiveRequestsProps) {
  const { endpoint, isShown = () => true, onClear, onChangePolicy } = props
  const [filter, setFilter] = useState(NO_FILTER)
  const query = toStreamQuery(endpoint, filter)
  const [tail, setTail] = useState<Tail>()
  const connection = useConnection()
  useFollow(query, (event) => {
    if (event.type === 'requests') setTail((now) => addBatch(now, event))
  })
  const [held, setHeld] = useState<Held>()
  const paused = held?.query === query ? held : undefined
  const matches = toMatch(filter)
  const shows = (request: RequestEntry) => matches(request) && isShown(request.endpoint)
  const requests = (paused?.requests ?? tail?.requests ?? []).filter(shows)
  const old = new Set(paused?.requests.map(keyOf))
  const fresh = paused
    ? (tail?.requests.filter((each) => shows(each) && !old.has(keyOf(each))).length ?? 0)
    : 0
  const hold = (open: string | undefined, stays: boolean) =>
    setHeld({ query, requests: paused?.requests ?? tail?.requests ?? [], open, stays })
  const toggle = (key: string) => {
    if (key !== paused?.open) hold(key, paused?.stays ?? false)
    else if (paused.stays) hold(undefined, true)
    else setHeld(undefined)
  }
  const isLost = connection.state === 'lost'
  const state = isLost ? 'lost' : paused ? 'paused' : connection.state
  return (
    <div>
      <div className={classes.filters}>
        <Filter value={filter} onChange={setFilter} ofAll={endpoint === undefined} />
        {props.children}
      </div>
      <div className={classes.bar}>
        <p className={classes.state} data-state={state}>
          <svg viewBox="0 0 8 8" width="8" height="8" aria-hidden="true">
            <circle cx="4" cy="4" r="3" strokeWidth="1.5" stroke="currentColor" />
          </svg>
          <span role="status">{words[state]}</span>
        </p>
        <Button
          variant="default"
          onClick={() => (paused ? setHeld(undefined) : hold(undefined, true))}
        >
          {paused ? 'Resume' : 'Pause'}
          {fresh > 0 && ` · ${formatCount(fresh)} new`}
        </Button>
      </div>
      <Notes leftOut={tail?.leftOut ?? 0} />
      {tail === undefined && !isLost && <SkeletonRows what="the requests" />}
      {requests.length === 0 && isLost && (
        <Notice>No connection. Requests will appear here when it is back.</Notice>
      )}
      {requests.length > 0 && (
        <div className={classes.rows} data-all={endpoint === undefined || undefined}>
          <RequestTable
            requests={requests}
            open={paused?.open}
            onToggle={toggle}
            ofAll={endpoint === undefined}
            onChangePolicy={onChangePolicy}
          />
        </div>
      )}
      {tail !== undefined && requests.length === 0 && !isLost && (
        <Nothing
          isFiltered={filter !== NO_FILTER || !(paused ?? tail).requests.every(shows)}
          isPaused={paused !== undefined}
          what={endpoint === undefined ? 'rejected requests' : 'requests'}
          onClear={() => {
            setFilter(NO_FILTER)
            onClear?.()
          }}
        />
      )}
    </div>
  )
}

const words = {
  live: 'Live',
  connecting: 'Connecting…',
  paused: 'Paused',
  lost: 'No connection.',
} as const

function Filter(props: {
  value: TailFilter
  onChange: (filter: TailFilter) => void
  ofAll: boolean
}) {
  const { value, onChange, ofAll } = props
  const seesClients = useHasRole('operator')
  const change = (part: Partial<TailFilter>) => {
    const next = { ...value, ...part }
    onChange(Object.values(next).every((text) => text === '') ? NO_FILTER : next)
  }
  return (
    <search aria-label="Filter requests" className={`${filterBar.bar} ${classes.filter}`}>
      <NativeSelect
        label="Status"
        data={ofAll ? rejectedStatuses : statuses}
        value={value.status}
        onChange={(event) => change({ status: event.currentTarget.value })}
      />
      {seesClients && (
        <CodeInput
          label="Client"
          placeholder="203.0.113.7"
          value={value.client}
          onChange={(event) => change({ client: event.currentTarget.value })}
        />
      )}
      <CodeInput
        label="Path"
        placeholder="/articles"
        value={value.path}
        onChange={(event) => change({ path: event.currentTarget.value })}
      />
    </search>
  )
}

/** What the list does not show. */
function Notes({ leftOut }: { leftOut: number }) {
  const { data: nodes = [] } = useQuery(nodesQuery)
  const seesAll = useHasRole('operator')
  return (
    <>
      {!seesAll && (
        <p className={classes.note}>You see clients and names of your own requests only.</p>
      )}
      {nodes.length > 1 && (
        <p className={classes.note}>Only requests to the node that serves this page.</p>
      )}
      {leftOut > 0 && (
        <p className={classes.note}>
          {formatCount(leftOut)} {leftOut === 1 ? 'request is' : 'requests are'} not shown, because
          too many arrived at once. Filter by status to see others.
        </p>
      )}
    </>
  )
}

function Nothing(props: {
  isFiltered: boolean
  isPaused: boolean
  what: string
  onClear: () => void
}) {
  if (props.isFiltered) {
    return (
      <NoMatch clear="Clear filters" onClear={props.onClear}>
        No request matches the filter.
      </NoMatch>
    )
  }
  return (
    <Notice>
      {props.isPaused
        ? `No ${props.what} before the pause.`
        : `No ${props.what} yet. New ones will appear here.`}
    </Notice>
  )
}
