import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { databasesQuery } from '../../app/queries.ts'
import { QueryResult } from '../../shared/ui/feedback/query-result.tsx'
import { NameList } from './name-list.tsx'

/** Lists the databases, each with a link to its collections. */
export function DatabaseList() {
  return (
    <QueryResult query={useQuery(databasesQuery)} what="the databases">
      {(databases) => (
        <NameList
          title="Choose a database"
          names={databases}
          link={(database, className) => (
            <Link to="/documents/$database" params={{ database }} className={className}>
              {database}
            </Link>
          )}
        />
      )}
    </QueryResult>
  )
}
