import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { databasesQuery } from '../../app/queries.ts'
import { QueryResult } from '../../shared/ui/feedback/query-result.tsx'
import { useFilterText } from '../../shared/ui/form/use-filter-text.ts'
import { NameList } from './name-list.tsx'

/** Lists the databases, each with a link to its collections. */
export function DatabaseList() {
  const [text, filter] = useFilterText('/documents')
  return (
    <QueryResult query={useQuery(databasesQuery)} what="the databases">
      {(databases) => (
        <NameList
          title="Choose a database"
          noun="database"
          rows={databases.map((name) => ({ name }))}
          text={text}
          onChange={filter}
          link={({ name }, className) => (
            <Link to="/documents/$database" params={{ database: name }} className={className}>
              {name}
            </Link>
          )}
        />
      )}
    </QueryResult>
  )
}
