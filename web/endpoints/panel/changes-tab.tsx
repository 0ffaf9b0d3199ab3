import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import * as z from 'zod/mini'
import type { AuditRow } from '../../../server/contract/audit.ts'
import { policy as policySchema } from '../../../server/contract/endpoints/policy.ts'
import { labelRules } from '../../policy/rule-labels.ts'
import { LoadFailure } from '../../ui/feedback/load-failure.tsx'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import { formatList } from '../model/format-list.ts'
import classes from './endpoint-log.module.css'
import { PanelSection } from './panel-section.tsx'
import { endpointLogQuery } from './queries.ts'

/** Shows the latest audit log rows of an endpoint. */
export function EndpointLog({ address }: { address: string }) {
  const { data, error, refetch } = useQuery(endpointLogQuery(address))
  const rows = data?.rows
  return (
    <PanelSection
      title="Changes"
      action={
        rows !== undefined &&
        rows.length > 0 && (
          <Button
            variant="subtle"
            renderRoot={(props) => <Link to="/activity" search={{ what: 'endpoint' }} {...props} />}
          >
            All changes
          </Button>
        )
      }
    >
      {rows === undefined && error !== null && (
        <LoadFailure what="The changes" error={error} onRetry={() => void refetch()} />
      )}
      {rows?.length === 0 && <p className="dim">No changes recorded since the first start.</p>}
      <ul className={classes.rows}>
        {rows?.map((row) => (
          <Line key={row.seq} row={row} />
        ))}
      </ul>
    </PanelSection>
  )
}

function Line({ row }: { row: AuditRow }) {
  return (
    <li className={classes.row}>
      <span className={classes.change}>{formatRecordedChange(row)}</span>
      <span className={`mono ${classes.actor}`}>{row.actor}</span>
      <span className={classes.time}>
        <RelativeTime time={row.at} tabIndex={0} />
      </span>
    </li>
  )
}

const done: Readonly<Record<string, string>> = {
  'endpoint.add': 'Added',
  'endpoint.map': 'Mapping changed',
  'endpoint.remove': 'Removed',
  'policy.set': 'Policy changed',
  'policy.remove': 'Policy removed',
  'policy.confirm': 'Policy kept after a trial',
}

const rejected: Readonly<Record<string, string>> = {
  'endpoint.add': 'Adding or mapping rejected',
  'endpoint.remove': 'Removal rejected',
  'policy.set': 'Policy rejected',
  'policy.remove': 'Removal of the policy rejected',
}

/**
 * Formats an audit log row of an endpoint: "Mapping changed: blog and shop", "Policy changed:
 * read-only", "Removal rejected".
 */
export function formatRecordedChange({ action, outcome, after }: AuditRow): string {
  const what = done[action] ?? action
  if (outcome === 'refused') return rejected[action] ?? `${what}: rejected`
  if (action === 'policy.set') {
    const stored = z.object({ policy: policySchema }).safeParse(after)
    const rules = stored.success ? labelRules(stored.data.policy, Date.now()) : []
    const texts = rules.flatMap(({ word, text }) => (word === 'temporary' ? [] : text))
    return texts.length === 0 ? what : `${what}: ${formatList(texts, { max: 3 })}`
  }
  const names = databasesOf(after)
  if (names === undefined) return what
  return `${what}: ${names.length === 0 ? 'all databases' : formatList(names)}`
}

function databasesOf(after: unknown): string[] | undefined {
  if (typeof after !== 'object' || after === null || !('databases' in after)) return undefined
  return Array.isArray(after.databases) ? after.databases.map(String) : undefined
}
