import { useQuery } from '@tanstack/react-query'
import { databasesQuery } from '../../api/queries.ts'
import { useOwnEndpoint } from '../../api/session/person.ts'
import type { EndpointRow } from '../model/endpoint-rows.ts'
import { readDrainSeconds } from '../model/page-meta.ts'
import { type ChangeContext, type ChangeGuard, checkChanges } from './check-changes.ts'

/**
 * Returns {@link checkChanges} bound to the endpoint, the location, the databases and the drain
 * time of this page.
 * @example
 * const check = useChangeGuard(rows)
 * const guard = check([{ address, after: null }])
 * return <GuardNotice guard={guard} />
 */
export function useChangeGuard(
  rows: readonly EndpointRow[],
  { named }: Pick<ChangeContext, 'named'> = {},
): (changes: ChangeContext['changes']) => ChangeGuard {
  const { data: databases = [] } = useQuery(databasesQuery)
  const here = useOwnEndpoint()
  return (changes) =>
    checkChanges({
      changes,
      ...(named === undefined ? {} : { named }),
      rows,
      databases,
      here,
      drainSeconds: readDrainSeconds(),
      page: location,
    })
}
