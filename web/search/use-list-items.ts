import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import {
  databasesQuery,
  endpointsQuery,
  peopleQuery,
  policiesQuery,
  tokensQuery,
} from '../api/queries.ts'
import { useHasRole } from '../api/session/person.ts'
import { certificatesQuery } from '../certificates/queries.ts'
import { webhooksQuery } from '../webhooks/queries.ts'
import {
  certificateItems,
  databaseItems,
  endpointItems,
  personItems,
  tokenItems,
  webhookItems,
} from './search-items.ts'
import { FRESH_MS } from './use-collection-items.ts'

/** The search reads a list when it opens, and does not poll it. */
const ONCE = { staleTime: FRESH_MS, refetchInterval: false, refetchOnWindowFocus: false } as const

/** Returns all that has a name, except collections, as far as the role of the person permits. */
export function useListItems() {
  const [isAdmin, isOperator, isEditor] = [
    useHasRole('admin'),
    useHasRole('operator'),
    useHasRole('editor'),
  ]
  const databases = useQuery(databasesQuery)
  const endpoints = useQuery(endpointsQuery)
  const policies = useQuery({ ...policiesQuery, enabled: isOperator })
  const certificates = useQuery({ ...certificatesQuery, ...ONCE, enabled: isOperator })
  const webhooks = useQuery({ ...webhooksQuery, ...ONCE, enabled: isEditor })
  const people = useQuery({ ...peopleQuery, ...ONCE, enabled: isAdmin })
  const tokens = useQuery({ ...tokensQuery(isAdmin ? 'everybody' : 'own'), ...ONCE })
  const items = useMemo(
    () => [
      ...databaseItems(databases.data ?? []),
      ...endpointItems(endpoints.data ?? [], policies.data ?? []),
      ...personItems(people.data ?? []),
      ...tokenItems(tokens.data ?? [], isAdmin ? '/access/tokens' : '/me'),
      ...certificateItems(certificates.data ?? []),
      ...webhookItems(webhooks.data ?? []),
    ],
    [
      databases.data,
      endpoints.data,
      policies.data,
      people.data,
      tokens.data,
      isAdmin,
      certificates.data,
      webhooks.data,
    ],
  )
  const lists = [databases, endpoints, certificates, webhooks, people, tokens]
  return {
    items,
    databases: databases.data ?? [],
    isLoading: lists.some(({ isLoading }) => isLoading),
    error: lists.find(({ error }) => error !== null)?.error ?? null,
  }
}
