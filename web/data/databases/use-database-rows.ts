import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { databasesQuery, endpointsQuery } from '../../api/queries.ts'
import { toDatabaseRows } from './database-rows.ts'
import { sizesQuery } from './sizes-query.ts'

/** Returns the databases with their sizes and endpoints, and the queries that load them. */
export function useDatabaseRows() {
  const names = useQuery(databasesQuery)
  const sizes = useQuery(sizesQuery)
  const endpoints = useQuery(endpointsQuery)
  const rows = useMemo(
    () => toDatabaseRows(names.data ?? [], sizes.data, endpoints.data),
    [names.data, sizes.data, endpoints.data],
  )
  return { rows, names, sizes, endpoints }
}
