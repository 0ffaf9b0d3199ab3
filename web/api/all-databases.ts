import { useQuery } from '@tanstack/react-query'
import { databasesQuery } from './queries.ts'
import { usePresence } from './session/person.ts'

/**
 * Returns the names of all databases; undefined until they are loaded, and for a person who is
 * limited to some: whether others exist is then unknown.
 */
export function useAllDatabases(): readonly string[] | undefined {
  const { data } = useQuery(databasesQuery)
  return usePresence().person.databases === null ? data : undefined
}
