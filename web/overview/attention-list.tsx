import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { AttentionItem } from '../../server/contract/overview.ts'
import { peopleQuery } from '../api/queries.ts'
import { useHasRole } from '../api/session/person.ts'
import { CreateMissing } from '../shared/create-missing.tsx'
import { IconCheck } from '../ui/icon/icons.tsx'
import { RelativeTime, TimeLeft } from '../ui/text/relative-time.tsx'
import classes from './overview.module.css'

/** Number of entries that are shown at first. */
const SHOWN = 8

/** What has happened to the target of an entry, and whether it needs to be solved today. */
const kinds: Readonly<Record<AttentionItem['kind'], { text: string; isUrgent?: true }>> = {
  'endpoint-failed': { text: 'does not listen', isUrgent: true },
  'disk-full': { text: 'is on a disk that is nearly full', isUrgent: true },
  'webhook-paused': { text: 'is paused and delivers nothing', isUrgent: true },
  'webhook-failing': { text: 'fails and is repeated', isUrgent: true },
  'certificate-failed': { text: 'cannot be renewed', isUrgent: true },
  'certificate-expires': { text: 'expires' },
  'database-missing': { text: 'does not exist' },
  'person-waiting': { text: 'waits for a role' },
  'token-expires': { text: 'expires' },
}

/** Lists what needs the person, the most urgent first, each with where to solve it. */
export function AttentionList({ items }: { items: readonly AttentionItem[] }) {
  const [isAll, setAll] = useState(false)
  if (items.length === 0) {
    return (
      <p className={classes.quiet}>
        <IconCheck /> Nothing needs your attention.
      </p>
    )
  }
  return (
    <>
      <ul className={classes.list}>
        {(isAll ? items : items.slice(0, SHOWN)).map((item) => (
          <Entry key={`${item.kind} ${item.target}`} item={item} />
        ))}
      </ul>
      {!isAll && items.length > SHOWN && (
        <button type="button" className="link-button" onClick={() => setAll(true)}>
          Show all {items.length}
        </button>
      )}
    </>
  )
}

function Entry({ item }: { item: AttentionItem }) {
  const { kind, target, since, detail } = item
  const { text, isUrgent } = kinds[kind]
  return (
    <li className={classes.entry} data-urgent={isUrgent}>
      <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
        {isUrgent ? (
          <path d="M6 1.2 11.4 10.8H.6Z" fill="currentColor" />
        ) : (
          <circle cx="6" cy="6" r="4.25" fill="none" stroke="currentColor" strokeWidth="1.5" />
        )}
      </svg>
      <div className={classes.what}>
        <p>
          {nounOf(kind)} <span className="mono">{target}</span> {text}
          {since !== null && kind.endsWith('-expires') && (
            <>
              {' '}
              <TimeLeft until={since} over="now: it is no longer valid" tabIndex={0} />
            </>
          )}
        </p>
        {(detail !== null || since !== null) && (
          <p className="meta dim">
            {detail}
            {detail !== null && since !== null && !kind.endsWith('-expires') && ' · '}
            {since !== null && !kind.endsWith('-expires') && (
              <RelativeTime time={since} tabIndex={0} />
            )}
          </p>
        )}
      </div>
      <Action item={item} />
    </li>
  )
}

const nouns: Readonly<Record<string, string>> = {
  certificate: 'Certificate',
  database: 'Database',
  token: 'Token',
  webhook: 'Webhook',
}

const nounOf = (kind: AttentionItem['kind']) => nouns[kind.split('-')[0] ?? '']

/** The link or button with which a person solves an entry. */
function Action({ item: { kind, target } }: { item: AttentionItem }): ReactNode {
  const isAdmin = useHasRole('admin')
  switch (kind) {
    case 'endpoint-failed':
      return (
        <Link to="/endpoints" search={{ open: target }}>
          Show endpoint
        </Link>
      )
    case 'database-missing':
      return <CreateMissing name={target} label="Create database" />
    case 'person-waiting':
      return <AssignRole username={target} />
    case 'certificate-expires':
    case 'certificate-failed':
      return (
        <Link to="/certificates" search={{ open: target }}>
          Show certificate
        </Link>
      )
    case 'token-expires':
      return <Link to={isAdmin ? '/access/tokens' : '/me'}>Show tokens</Link>
    case 'webhook-failing':
    case 'webhook-paused':
      return (
        <Link to="/webhooks" search={{ open: target }}>
          Show webhook
        </Link>
      )
    case 'disk-full':
      return <Link to="/data">Show sizes</Link>
  }
}

/** A link to the dialog that gives a waiting person access, on their page. */
function AssignRole({ username }: { username: string }) {
  // The navigation, which counts the people who wait, has loaded them.
  const { data = [] } = useQuery(peopleQuery)
  const id = data.find((person) => person.username === username)?.id
  if (id === undefined) return <Link to="/access/people">Assign a role</Link>
  return (
    <Link to="/access/people/$id" params={{ id }} search={{ give: id }}>
      Assign a role
    </Link>
  )
}
