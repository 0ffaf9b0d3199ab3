import { useQueryClient } from '@tanstack/react-query'
import type { ProviderSetup } from '../../../server/contract/access/provider.ts'
import { api, ignoreMissing, readJson } from '../../api/client.ts'
import { useReportedMutation } from '../../shared/reports/use-reported-mutation.ts'
import { showToast } from '../../shared/toast/toast.ts'
import { type ProviderDraft, toProviderInput } from './provider-draft.ts'

const routes = api._api.provider
const route = routes[':name']

interface ProviderSave {
  readonly draft: ProviderDraft
  readonly edited?: ProviderSetup | undefined
}

/** Returns a function that reads the providers again, and the invitations to them. */
function useRefetch() {
  const queryClient = useQueryClient()
  return () =>
    Promise.all(
      ['provider', 'person'].map((type) => queryClient.invalidateQueries({ queryKey: [type] })),
    )
}

const asKnown = ({ name, revision }: ProviderSetup) =>
  [{ param: { name } }, { headers: { 'If-Match': `"${revision}"` } }] as const

/** Adds a provider, or changes an edited one. */
export function useSaveProvider() {
  const onSettled = useRefetch()
  const done = (edited: ProviderSave['edited']) => (edited === undefined ? 'added' : 'changed')
  return useReportedMutation({
    // The mutation cache would otherwise keep the secret for minutes.
    gcTime: 0,
    change: ({ draft: { name }, edited }: ProviderSave) => ({
      what: `Provider ${name}`,
      done: done(edited),
    }),
    mutationFn: ({ draft, edited }) => {
      const json = toProviderInput(draft)
      if (edited === undefined) {
        return readJson(routes.$post({ json: { name: draft.name.trim(), ...json } }))
      }
      const [{ param }, headers] = asKnown(edited)
      return readJson(route.$put({ param, json }, headers))
    },
    onSuccess: ({ name }, { edited }) =>
      showToast({ text: `Provider ${name} ${done(edited)}`, name }),
    onSettled,
  })
}

export function useRemoveProvider() {
  const onSettled = useRefetch()
  return useReportedMutation({
    change: ({ name }: ProviderSetup) => ({ what: `Provider ${name}`, done: 'removed' }),
    mutationFn: (provider) => ignoreMissing(readJson(route.$delete(...asKnown(provider)))),
    onSuccess: (_, { name }) => showToast({ text: `Provider ${name} removed`, name }),
    onSettled,
  })
}

/** Starts a test of a provider. Resolves with its id and its URL. */
export const useTestProvider = () =>
  useReportedMutation({
    change: ({ name }: ProviderSetup) => ({ what: `A test of provider ${name}`, done: 'started' }),
    mutationFn: ({ name }) => readJson(route.test.$post({ param: { name } })),
  })
