import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { TrafficRange } from '../../server/contract/overview.ts'
import { percentileOf } from '../shared/response-times.ts'
import { QueryResult } from '../ui/feedback/query-result.tsx'
import { Section } from '../ui/layout/section.tsx'
import { type Column, RecordTable } from '../ui/table/record-table.tsx'
import { formatCount } from '../ui/text/format-number.ts'
import { format } from './figures.ts'
import classes from './overview.module.css'
import { endpointFiguresQuery } from './queries.ts'

interface EndpointFigure {
  readonly endpoint: string
  readonly requests: number
  readonly rejected: number
  readonly failed: number
  readonly p95: number | null
}

const figure = (head: string, cell: Column<EndpointFigure>['cell']): Column<EndpointFigure> => ({
  head,
  width: 128,
  figures: true,
  cell,
})

const columns: readonly Column<EndpointFigure>[] = [
  {
    head: 'Endpoint',
    cell: ({ endpoint }) => (
      <Link to="/endpoints" search={{ open: endpoint }} className="mono">
        {endpoint}
      </Link>
    ),
  },
  figure('p95 latency', ({ p95 }) => format.seconds(p95)),
  figure('Requests', ({ requests }) => formatCount(requests)),
  figure('Rejected', ({ rejected, requests }) => format.share(rejected / requests)),
  figure('Failed', ({ failed, requests }) => format.share(failed / requests)),
]

/** The figures of each endpoint, the slowest first. */
export function EndpointFigures({ range }: { range: TrafficRange }) {
  const query = useQuery(endpointFiguresQuery(range))
  const words = range === '1h' ? 'hour' : '24 hours'
  return (
    <div className={classes.slowest}>
      <Section
        title={`Slowest endpoints of the last ${words}`}
        action={
          <Link to="/overview" search={range === '24h' ? { range } : {}} replace>
            Hide
          </Link>
        }
      >
        <QueryResult query={query} what="the endpoints">
          {({ endpoints, bounds }) =>
            endpoints.length === 0 ? (
              <p className={classes.quiet}>No endpoint had requests in the last {words}.</p>
            ) : (
              <RecordTable
                caption={`Endpoints by their latency in the last ${words}, the slowest first`}
                columns={columns}
                records={endpoints
                  .map((each) => ({ ...each, p95: percentileOf(each.durations, bounds, 95) }))
                  .sort((a, b) => (b.p95 ?? 0) - (a.p95 ?? 0))}
                idOf={({ endpoint }) => endpoint}
              />
            )
          }
        </QueryResult>
      </Section>
    </div>
  )
}
