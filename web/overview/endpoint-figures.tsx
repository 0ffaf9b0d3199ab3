import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { TrafficRange } from '../../server/contract/overview.ts'
import { percentileOf } from '../shared/response-times.ts'
import { QueryResult } from '../ui/feedback/query-result.tsx'
import { Section } from '../ui/layout/section.tsx'
import { formatCount } from '../ui/text/format-number.ts'
import { format } from './figures.ts'
import classes from './overview.module.css'
import { endpointFiguresQuery } from './queries.ts'

/** The figures of each endpoint, the slowest first. */
export function EndpointFigures({ range }: { range: TrafficRange }) {
  const query = useQuery(endpointFiguresQuery(range))
  const words = range === '1h' ? 'hour' : '24 hours'
  return (
    <div className={classes.slowest}>
      <Section
        title="Slowest endpoints"
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
              // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
              <section className={classes.scroller} tabIndex={0} aria-label="Endpoints by latency">
                <table>
                  <caption className="visually-hidden">
                    Endpoints by their latency in the last {words}, the slowest first
                  </caption>
                  <thead>
                    <tr>
                      {['Endpoint', 'p95 latency', 'Requests', 'Rejected', 'Failed'].map((head) => (
                        <th key={head} scope="col">
                          {head}
                        </th>
                      ))}
                    </tr>
                  </thead>
                  <tbody>
                    {endpoints
                      .map((each) => ({ ...each, p95: percentileOf(each.durations, bounds, 95) }))
                      .sort((a, b) => (b.p95 ?? 0) - (a.p95 ?? 0))
                      .map(({ endpoint, requests, rejected, failed, p95 }) => (
                        <tr key={endpoint}>
                          <th scope="row">
                            <Link to="/endpoints" search={{ open: endpoint }} className="mono">
                              {endpoint}
                            </Link>
                          </th>
                          <td>{format.seconds(p95)}</td>
                          <td>{formatCount(requests)}</td>
                          <td>{format.share(rejected / requests)}</td>
                          <td>{format.share(failed / requests)}</td>
                        </tr>
                      ))}
                  </tbody>
                </table>
              </section>
            )
          }
        </QueryResult>
      </Section>
    </div>
  )
}
