import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ChangeSentence } from '../../shared/changes/change-sentence.tsx'
import { QueryResult } from '../../ui/feedback/query-result.tsx'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import classes from './changes-tab.module.css'
import { endpointLogQuery } from './queries.ts'
import type { PanelEndpoint } from './use-panel-endpoint.ts'

/** The latest changes of an endpoint. */
export function ChangesTab({ endpoint: { address } }: { endpoint: PanelEndpoint }) {
  return (
    <QueryResult query={useQuery(endpointLogQuery(address))} what="the changes">
      {({ rows, next }) => (
        <>
          {rows.length === 0 && (
            <p className={`dim ${classes.none}`}>No changes recorded since the first start.</p>
          )}
          <ol className={classes.rows}>
            {rows.map((row) => (
              <li key={row.seq} className={classes.row}>
                <ChangeSentence row={row} />
                <span className={classes.time}>
                  <RelativeTime time={row.at} tabIndex={0} />
                </span>
              </li>
            ))}
          </ol>
          <Button variant="default" renderRoot={(props) => <Link to="/activity" {...props} />}>
            {next === null ? 'Open Activity' : 'Older changes in Activity'}
          </Button>
        </>
      )}
    </QueryResult>
  )
}
