import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type ComponentType, lazy } from 'react'
import type { AuditRow } from '../../server/contract/audit.ts'
import type { TrafficRange } from '../../server/contract/overview.ts'
import { LazyBoundary } from '../ui/feedback/lazy-boundary.tsx'
import { QueryResult } from '../ui/feedback/query-result.tsx'
import { ChoiceGroup } from '../ui/form/choice-group.tsx'
import { PageHead } from '../ui/layout/page-head.tsx'
import { Section } from '../ui/layout/section.tsx'
import { usePageTitle } from '../ui/layout/use-page-title.ts'
import { RelativeTime } from '../ui/text/relative-time.tsx'
import { AttentionList } from './attention-list.tsx'
import classes from './overview.module.css'
import { attentionQuery, changesQuery, trafficQuery } from './queries.ts'
import { TrafficTiles } from './traffic-tiles.tsx'

const EndpointFigures = lazy(async () => ({
  default: (await import('./endpoint-figures.tsx')).EndpointFigures,
}))

const ranges = [
  { value: '1h', label: '1 h' },
  { value: '24h', label: '24 h' },
] as const

/**
 * The start page: the first steps on an empty server, what needs the person, how busy the server is,
 * and who changed what.
 */
export function OverviewPage(props: {
  Change: ComponentType<{ row: AuditRow }>
  FirstRun: ComponentType
}) {
  const { Change, FirstRun } = props
  const { range: chosen, by } = useSearch({ from: '/overview' })
  const range: TrafficRange = chosen ?? '1h'
  const navigate = useNavigate()
  const traffic = useQuery(trafficQuery(range))
  const attention = useQuery(attentionQuery)
  const changes = useQuery(changesQuery)
  const count = attention.data?.length ?? 0
  usePageTitle(count > 0 && `${count} to solve`, 'Overview')
  const setRange = (next: TrafficRange) =>
    void navigate({
      to: '/overview',
      search: { ...(next === '24h' && { range: next }), ...(by && { by }) },
      replace: true,
    })
  return (
    <div className={classes.page}>
      <PageHead
        title="Overview"
        action={
          <div className={classes.range}>
            <ChoiceGroup label="Range" inline choices={ranges} value={range} onChange={setRange} />
          </div>
        }
      />
      <FirstRun />
      <QueryResult query={traffic} what="the traffic">
        {(data) => <TrafficTiles traffic={data} range={range} />}
      </QueryResult>
      <LazyBoundary>{by === 'endpoint' && <EndpointFigures range={range} />}</LazyBoundary>
      <div className={classes.columns}>
        <div>
          <Section title="Needs attention" count={count || undefined}>
            <QueryResult query={attention} what="what needs attention">
              {(items) => <AttentionList items={items} />}
            </QueryResult>
          </Section>
        </div>
        <div>
          <Section title="Recent changes" action={<Link to="/activity">All activity</Link>}>
            <QueryResult query={changes} what="the changes">
              {(rows) => (
                <ul className={classes.list}>
                  {rows.map((row) => (
                    <li key={row.seq}>
                      <Link to="/activity" search={{ open: `${row.seq}` }} className={classes.what}>
                        <Change row={row} />
                      </Link>
                      <RelativeTime time={row.at} tabIndex={0} />
                    </li>
                  ))}
                </ul>
              )}
            </QueryResult>
          </Section>
        </div>
      </div>
    </div>
  )
}
