import { useQueryClient } from '@tanstack/react-query'
import type { WebhookRecord } from '../../server/contract/webhook.ts'
import { api, ignoreMissing, readJson } from '../api/client.ts'
import { feedQuery, setFeed } from '../api/feed.ts'
import { useSingleMutation } from '../shared/forms/use-single-mutation.ts'
import { useReportedMutation } from '../shared/reports/use-reported-mutation.ts'
import { showToast } from '../shared/toast/toast.ts'
import { webhooksQuery } from './queries.ts'
import { collectionsOf, toWebhookInput, type WebhookDraft } from './webhook-draft.ts'

const routes = api._api.webhook
const route = routes[':name']

/** A webhook, which must still have this revision. */
type Known = Pick<WebhookRecord, 'name' | 'revision'>

const asKnown = ({ name, revision }: Known) =>
  [{ param: { name } }, { headers: { 'If-Match': `"${revision}"` } }] as const

/** Returns a function that reads the webhooks and their deliveries again. */
function useRefetch() {
  const queryClient = useQueryClient()
  return () => queryClient.invalidateQueries({ queryKey: webhooksQuery.queryKey })
}

// The mutation cache would otherwise keep the secret for minutes.
const UNKEPT = { gcTime: 0 } as const

/** Adds a webhook. Its response is the only one with the secret. */
export function useAddWebhook() {
  const refetch = useRefetch()
  return useSingleMutation({
    ...UNKEPT,
    mutationFn: (draft: WebhookDraft) => readJson(routes.$post({ json: toWebhookInput(draft) })),
    onSuccess: ({ webhook: { name } }) => {
      showToast({ text: `Webhook ${name} added`, name })
      // Not awaited, to show the secret immediately.
      void refetch()
    },
  })
}

/** Replaces the secret of a webhook. Its response is the only one with the new secret. */
export function useRotateSecret() {
  const refetch = useRefetch()
  return useSingleMutation({
    ...UNKEPT,
    mutationFn: (webhook: Known) => readJson(route.secret.$post(...asKnown(webhook))),
    onSuccess: ({ webhook: { name } }) => {
      showToast({ text: `Secret of webhook ${name} rotated`, name })
      void refetch()
    },
  })
}

interface WebhookSave {
  readonly edited: Known
  readonly draft: WebhookDraft
}

/** Changes the URL, the collections and the filter of a webhook. */
export function useEditWebhook() {
  const onSettled = useRefetch()
  return useReportedMutation({
    change: ({ edited: { name } }: WebhookSave) => ({ what: `Webhook ${name}`, done: 'changed' }),
    mutationFn: ({ edited, draft }) => {
      const { url, collections, filter } = toWebhookInput(draft)
      const [{ param }, headers] = asKnown(edited)
      return readJson(route.$patch({ param, json: { url, collections, filter } }, headers))
    },
    onSuccess: ({ name }) => showToast({ text: `Webhook ${name} changed`, name }),
    onSettled,
  })
}

/** A change of a webhook, such as "paused". */
function useChange<T>(done: string, send: (webhook: Known) => Promise<T>) {
  const onSettled = useRefetch()
  return useReportedMutation({
    change: ({ name }: Known) => ({ what: `Webhook ${name}`, done }),
    mutationFn: send,
    onSuccess: (_, { name }) => showToast({ text: `Webhook ${name} ${done}`, name }),
    onSettled,
  })
}

export const usePauseWebhook = () =>
  useChange('paused', (webhook) => readJson(route.pause.$post(...asKnown(webhook))))

/** Continues the deliveries of a webhook that is paused, or repeats the failed one now. */
export const useResumeWebhook = () =>
  useChange('resumed', (webhook) => readJson(route.resume.$post(...asKnown(webhook))))

export const useDeleteWebhook = () =>
  useChange('deleted', (webhook) => ignoreMissing(readJson(route.$delete(...asKnown(webhook)))))

/** Sends a test, and resolves with the response of the receiver. */
export function useTestWebhook() {
  const onSettled = useRefetch()
  return useReportedMutation({
    change: ({ name }: Known) => ({ what: `A test of webhook ${name}`, done: 'sent' }),
    mutationFn: ({ name }) => readJson(route.test.$post({ param: { name } })),
    onSettled,
  })
}

/** Sends a delivery again, and resolves with the response of the receiver. */
export function useDeliverAgain(name: string) {
  const onSettled = useRefetch()
  return useReportedMutation({
    change: () => ({ what: `A delivery of webhook ${name}`, done: 'sent again' }),
    mutationFn: (id: string) =>
      readJson(route.delivery[':id'].retry.$post({ param: { name, id } })),
    onSettled,
  })
}

/** Turns on the feeds of collections that have none. */
export function useTurnOnFeeds() {
  const queryClient = useQueryClient()
  return useReportedMutation({
    change: () => ({ what: 'The feed', done: 'turned on' }),
    mutationFn: async (draft: WebhookDraft) => {
      const { database } = draft
      for (const collection of collectionsOf(draft)) {
        const feed = feedQuery({ database, collection })
        // A request for an existing feed would change how long it keeps changes.
        if ((await queryClient.fetchQuery(feed)) === null) await setFeed({ database, collection })
        void queryClient.invalidateQueries(feed)
      }
    },
  })
}
