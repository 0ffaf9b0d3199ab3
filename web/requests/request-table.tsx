import { Button, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { RequestEntry } from '../../server/contract/endpoints/request.ts'
import { nodesQuery } from '../api/queries.ts'
import { useHasRole } from '../api/session/person.ts'
import type { PolicyChange } from '../policy/policy-draft.ts'
import { IconChevronRight } from '../ui/icon/icons.tsx'
import { type Column, RecordTable } from '../ui/table/record-table.tsx'
import { formatBytes, formatRate, NO_FIGURE } from '../ui/text/format-number.ts'
import { exactTime } from '../ui/text/relative-time.tsx'
import { describeCaller, describeRequest, labelRejection } from './describe-request.ts'
import classes from './request-table.module.css'
import { keyOf } from './tail.ts'

export interface RequestTableProps {
  readonly requests: readonly RequestEntry[]
  /** The key of the row whose details are shown. */
  readonly open: string | undefined
  readonly onToggle: (key: string) => void
  /** Whether the requests are the rejected ones of all endpoints. */
  readonly ofAll: boolean
  readonly onChangePolicy: (endpoint: string, change: PolicyChange) => void
}

/** Requests, newest first. A row opens the reason, the caller and what an operator can do. */
export function RequestTable(props: RequestTableProps) {
  const { requests, open, ofAll, onToggle, onChangePolicy } = props
  const columns: readonly Column<RequestEntry>[] = [
    {
      head: 'Request',
      cell: (request) => (
        <UnstyledButton
          className={classes.toggle}
          aria-expanded={keyOf(request) === open}
          onClick={() => onToggle(keyOf(request))}
        >
          <IconChevronRight size={14} stroke={1.75} />
          <span className={classes.request}>
            <span className={classes.path}>
              {request.method === null ? (
                'Connection refused'
              ) : (
                <span className="mono">
                  <span className="dim">{request.method}</span> {request.path}
                </span>
              )}
            </span>
            <span className={classes.below} data-all={ofAll || undefined}>
              <Client request={request} />
              {!ofAll && request.rejected !== null && (
                <span className={classes.rejected}>{labelRejection(request.rejected)}</span>
              )}
            </span>
          </span>
        </UnstyledButton>
      ),
    },
    {
      head: 'Reason',
      width: 176,
      cell: ({ rejected }) => (rejected === null ? NO_FIGURE : labelRejection(rejected)),
    },
    {
      head: 'Status',
      width: ofAll ? 72 : 60,
      figures: true,
      cell: ({ status, rejected }) => (
        <span className={rejected !== null || (status ?? 0) >= 500 ? classes.rejected : undefined}>
          {status ?? NO_FIGURE}
        </span>
      ),
    },
    {
      head: 'Client',
      width: 176,
      wideOnly: true,
      cell: (request) => <Client request={request} />,
    },
    {
      head: 'Endpoint',
      width: 208,
      cell: ({ endpoint }) => (
        <Link to="/endpoints" search={{ open: endpoint, tab: 'requests' }} className="mono">
          {endpoint}
        </Link>
      ),
    },
    {
      head: 'Time',
      width: ofAll ? 88 : 76,
      figures: true,
      cell: ({ time }) => <Clock at={time} />,
    },
  ]
  return (
    <RecordTable
      caption={ofAll ? 'Rejected requests' : 'Requests'}
      records={requests}
      columns={columns.filter(({ head }) => ofAll || !ONLY_OF_ALL.includes(head))}
      idOf={keyOf}
      detailOf={(request) =>
        keyOf(request) === open ? (
          <RequestDetail request={request} onChangePolicy={onChangePolicy} />
        ) : undefined
      }
    />
  )
}

/** The columns that the panel of an endpoint has no room for, or does not need. */
const ONLY_OF_ALL = ['Reason', 'Client', 'Endpoint']

/** The address of the client, or why there is none. */
function Client({ request }: { request: RequestEntry }) {
  const { client } = describeCaller(request, useHasRole('operator'))
  return <span className={request.client === null ? 'dim' : 'mono'}>{client}</span>
}

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' })

function Clock({ at }: { at: string }) {
  const moment = Date.parse(at)
  return (
    <time dateTime={at} data-tip={exactTime(moment)}>
      {clock.format(moment)}
    </time>
  )
}

interface ClientChange {
  readonly label: string
  readonly of: (client: string) => PolicyChange
}

const clientChanges: readonly ClientChange[] = [
  { label: 'Block', of: (deny) => ({ deny }) },
  { label: 'Allow only', of: (allow) => ({ allow }) },
]

/** The changes for a client that the policy does not admit. They keep the other clients. */
const refusedChanges: readonly ClientChange[] = [
  { label: 'Also allow', of: (alsoAllow) => ({ alsoAllow }) },
]

/** What became of a request, who sent it, and the changes of the policy that concern its client. */
function RequestDetail(props: {
  request: RequestEntry
  onChangePolicy: RequestTableProps['onChangePolicy']
}) {
  const { request, onChangePolicy } = props
  const { endpoint, client, path, ms, bytes, database, node, time, rejected } = request
  const mayChange = useHasRole('operator')
  const { caller } = describeCaller(request, mayChange)
  const { data: nodes = [] } = useQuery(nodesQuery)
  const facts: readonly (readonly [string, ReactNode])[] = [
    ['Path', path && <span className="mono">{path}</span>],
    ['Client', <Client key="client" request={request} />],
    ['Caller', request.method && caller],
    ['Database', database],
    ['Duration', ms !== null && `${formatRate(ms)} ms`],
    ['Response', request.method && formatBytes(bytes)],
    ['Node', nodes.length > 1 && node],
    ['Time', exactTime(Date.parse(time))],
  ]
  return (
    <div className={classes.detail}>
      <p className={classes.sentence}>{describeRequest(request)}</p>
      <dl className={classes.facts}>
        {facts.map(
          ([name, fact]) =>
            fact && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{fact}</dd>
              </div>
            ),
        )}
      </dl>
      {mayChange && client !== null && !endpoint.startsWith('unix:') && (
        <div className={classes.actions}>
          {(rejected === 'allow' ? refusedChanges : clientChanges).map(({ label, of }) => (
            <Button
              key={label}
              variant="default"
              onClick={() => onChangePolicy(endpoint, of(client))}
            >
              {label} {client}
            </Button>
          ))}
        </div>
      )}
    </div>
  )
}
