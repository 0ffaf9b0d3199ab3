import { Button, Menu } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { CertificateRecord } from '../../server/contract/certificate.ts'
import { expiryOf } from '../../server/contract/certificate-expiry.ts'
import { endpointsQuery } from '../api/queries.ts'
import { useRecordLocation } from '../shared/use-record-location.ts'
import { StateBadge } from '../ui/feedback/state-badge.tsx'
import { keepFocus } from '../ui/layout/keep-focus.ts'
import { MenuButton } from '../ui/overlay/menu-button.tsx'
import { OverflowNames } from '../ui/table/overflow-names.tsx'
import shared from '../ui/table/record-details.module.css'
import { DetailsToggle, Fact, Facts } from '../ui/table/record-details.tsx'
import { type Column, RecordTable } from '../ui/table/record-table.tsx'
import { capitalize } from '../ui/text/capitalize.ts'
import { CopyLine } from '../ui/text/copy-line.tsx'
import { exactTime, TimeLeft } from '../ui/text/relative-time.tsx'
import { useClock } from '../ui/text/use-clock.ts'
import { certificateDraft, toCertificateInput } from './certificate-draft.ts'
import { useSaveCertificate } from './certificate-requests.ts'
import classes from './certificates.module.css'

const kinds: Readonly<Record<CertificateRecord['kind'], string>> = {
  local: 'issued and renewed by Gatehouse',
  upload: 'uploaded',
  file: 'read from files',
  acme: 'obtained and renewed by ACME',
}

/** Lists certificates. Expanding a row shows the details and actions of one. */
export function CertificateTable({ certificates }: { certificates: readonly CertificateRecord[] }) {
  const { search, toggle } = useRecordLocation('/certificates')
  const columns: readonly Column<CertificateRecord>[] = [
    {
      head: 'Name',
      width: 144,
      cell: ({ name }) => (
        <DetailsToggle name={name} isOpen={name === search.open} onToggle={() => toggle(name)} />
      ),
    },
    { head: 'Names', cell: ({ current }) => <Names names={current?.names ?? []} /> },
    {
      head: 'Issuer',
      width: 184,
      wideOnly: true,
      cell: ({ current }) => current?.issuer ?? <span className="dim">–</span>,
    },
    { head: 'Expires', width: 184, cell: (each) => <Expires certificate={each} /> },
    {
      head: 'Used by',
      width: 200,
      cell: ({ endpoints: [first, ...others] }) =>
        first === undefined ? (
          <span className="dim">No endpoint</span>
        ) : (
          <span className={classes.used}>
            <Link to="/endpoints" search={{ open: first }} className="mono">
              {first}
            </Link>
            <OverflowNames names={others} />
          </span>
        ),
    },
    { head: 'Renewal', width: 216, cell: (each) => <Renewal certificate={each} /> },
  ]
  return (
    <RecordTable
      caption="Certificates"
      records={certificates}
      columns={columns}
      idOf={({ name }) => name}
      detailOf={(each) => (each.name === search.open ? <Details certificate={each} /> : undefined)}
    />
  )
}

function Names({ names: [first, second, ...others] }: { names: readonly string[] }) {
  if (first === undefined) return <span className="dim">–</span>
  return (
    <span className={classes.used}>
      <span className="mono">{second === undefined ? first : `${first}, ${second}`}</span>
      <OverflowNames names={others} />
    </span>
  )
}

/** Counts down to the end of a certificate. A warning has a shape of its own. */
function Expires({ certificate: { current, error, order } }: { certificate: CertificateRecord }) {
  const expiry = useClock((now) => (current === null ? 'valid' : expiryOf(current, now)))
  if (current === null) {
    if (order?.state === 'pending') return <StateBadge state="opening" label="Ordered…" />
    const label = order === undefined ? 'Not readable' : 'Not issued'
    return <StateBadge state="failed" label={label} />
  }
  const left = <TimeLeft until={current.notAfter} over="expired" tabIndex={0} />
  if (expiry === 'expired') return <StateBadge state="failed" label="Expired" />
  if (error !== undefined || order?.state === 'failed') {
    return <StateBadge state="failed" label="Not renewed" detail={left} />
  }
  return expiry === 'due' ? <StateBadge state="draining" label="Soon" detail={left} /> : left
}

/** When a certificate is renewed, and why it was not. */
function Renewal({ certificate }: { certificate: CertificateRecord }) {
  const { error, order, renewal, kind } = certificate
  const next = order?.nextAttempt
  const reason = error?.message ?? (order?.state === 'failed' ? order.reason : undefined)
  const parts: ReactNode[] = [
    order?.state === 'pending' && 'An order is pending',
    reason !== undefined && <span className={shared.failed}>{reason}</span>,
    next !== undefined && (
      <>
        Next attempt <TimeLeft until={next} over="now" tabIndex={0} />
      </>
    ),
    renewal !== undefined && next === undefined && (
      <>
        Renews <TimeLeft until={renewal} over="now" tabIndex={0} />
      </>
    ),
    kind === 'upload' && 'Replace it by hand',
    kind === 'file' && reason === undefined && 'Read when the files change',
  ]
  return (
    <span className={shared.lines}>
      {parts.filter(Boolean).map((part, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts have no state
        <span key={at}>{part}</span>
      ))}
    </span>
  )
}

/** What a certificate says, and its actions. */
function Details({ certificate }: { certificate: CertificateRecord }) {
  const { name, kind, current, endpoints, files, readOnly = false } = certificate
  const { openDialog } = useRecordLocation('/certificates')
  const renew = useSaveCertificate('renewed')
  const isRenewable = kind === 'local' || kind === 'acme'
  const time = (iso: string) => exactTime(Date.parse(iso))
  const facts: [term: string, text: string, isCode?: boolean][] = []
  if (current !== null) {
    facts.push(
      ['Names', current.names.join(', '), true],
      ['Issuer', current.issuer],
      ['Valid', `${time(current.notBefore)} to ${time(current.notAfter)}`],
      ['Key', current.keyType],
      ['Serial number', current.serial, true],
    )
  }
  if (files !== undefined) {
    facts.push(['Certificate file', files.certificate, true], ['Key file', files.key, true])
  }
  const unavailable = readOnly
    ? { 'aria-disabled': true, 'data-tip': 'It comes from the command line of Gatehouse.' }
    : {}
  return (
    <div className={shared.details}>
      <Facts>
        <Fact term="Source">
          {capitalize(kinds[kind])}
          {readOnly && ', from the command line'}
        </Fact>
        {facts.map(([term, text, isCode = false]) => (
          <Fact key={term} term={term} isCode={isCode}>
            {text}
          </Fact>
        ))}
        <Fact term="Used by">
          {endpoints.length === 0 ? 'No endpoint' : <EndpointList endpoints={endpoints} />}
        </Fact>
      </Facts>
      {current !== null && <CopyLine label="Fingerprint (SHA-256)" text={current.fingerprint} />}
      <div className={shared.actions}>
        <UseOnEndpoint certificate={certificate} />
        {isRenewable && (
          <Button
            ref={keepFocus}
            variant="default"
            aria-disabled={renew.isPending || undefined}
            onClick={() =>
              renew.mutate({
                name,
                input: toCertificateInput(certificateDraft([], certificate)),
                replaced: certificate,
              })
            }
          >
            {renew.isPending ? 'Renewing…' : 'Renew now'}
          </Button>
        )}
        <Button
          variant="default"
          {...unavailable}
          onClick={readOnly ? undefined : () => openDialog('replace', name)}
        >
          Replace…
        </Button>
        <Button
          variant="subtle"
          className={shared.delete}
          {...unavailable}
          onClick={readOnly ? undefined : () => openDialog('remove', name)}
        >
          Delete certificate
        </Button>
      </div>
      {renew.error !== null && (
        <p role="alert" className={shared.failed}>
          {renew.error.message}
        </p>
      )}
    </div>
  )
}

/** The menu of the `ssl` endpoints that do not use a certificate yet. */
function UseOnEndpoint({ certificate: { name, endpoints } }: { certificate: CertificateRecord }) {
  const { data = [] } = useQuery(endpointsQuery)
  const others = data.filter(
    ({ endpoint }) => endpoint.startsWith('ssl:') && !endpoints.includes(endpoint),
  )
  return (
    <MenuButton label="Use on an endpoint" width={280}>
      {others.slice(0, MAX_LISTED).map(({ endpoint }) => (
        <Menu.Item
          key={endpoint}
          className="mono"
          renderRoot={(props) => (
            <Link
              to="/endpoints"
              search={{ policy: endpoint, section: 'tls', certificate: name }}
              {...props}
            />
          )}
        >
          {endpoint}
        </Menu.Item>
      ))}
      {others.length > MAX_LISTED && (
        <Menu.Item
          renderRoot={(props) => <Link to="/endpoints" search={{ q: 'ssl:' }} {...props} />}
        >
          Show all {others.length}
        </Menu.Item>
      )}
      <Menu.Item renderRoot={(props) => <Link to="/endpoints/new" {...props} />}>
        Add an endpoint
      </Menu.Item>
    </MenuButton>
  )
}

/** Maximum endpoints to list; the rest are counted. */
const MAX_LISTED = 20

/** The endpoints that use a certificate, as links to their panels. */
export function EndpointList({ endpoints }: { endpoints: readonly string[] }) {
  return (
    <ul>
      {endpoints.slice(0, MAX_LISTED).map((endpoint) => (
        <li key={endpoint}>
          <Link to="/endpoints" search={{ open: endpoint }} className="mono">
            {endpoint}
          </Link>
        </li>
      ))}
      {endpoints.length > MAX_LISTED && (
        <li className="dim">and {endpoints.length - MAX_LISTED} more</li>
      )}
    </ul>
  )
}
