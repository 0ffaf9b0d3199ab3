import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { databasesQuery } from '../queries.ts'
import { LoadFailure } from '../ui/load-failure.tsx'
import { SkeletonRows } from '../ui/skeleton-rows.tsx'
import { NameList } from './name-list.tsx'

/** The databases, to choose one. */
export function DatabaseList() {
  const { data: databases, error, refetch } = useQuery(databasesQuery)
  if (databases === undefined) {
    if (error === null) return <SkeletonRows what="the databases" />
    return <LoadFailure what="The databases" error={error} onRetry={refetch} />
  }
  return (
    <NameList
      title="Choose a database"
      names={databases}
      link={(database, className) => (
        <Link to="/documents/$database" params={{ database }} className={className}>
          {database}
        </Link>
      )}
    />
  )
}
