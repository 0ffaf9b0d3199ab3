import { useQuery } from '@tanstack/react-query'
import { includesDatabase } from '../../../server/contract/database.ts'
import { endpointsQuery } from '../queries.ts'
import { useOwnEndpoint } from './person.ts'

/**
 * Returns a function that tells whether the endpoint of this page serves a database. While the
 * endpoints are not loaded, it returns true, and the server decides.
 */
export function useIsServedHere(): (database: string) => boolean {
  const own = useOwnEndpoint()
  const { data: endpoints = [] } = useQuery(endpointsQuery)
  const { databases = [] } = endpoints.find(({ endpoint }) => endpoint === own) ?? {}
  return (database) => includesDatabase(databases, database)
}
