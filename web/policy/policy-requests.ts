import { type QueryClient, queryOptions, useQueryClient } from '@tanstack/react-query'
import type { Policy, PolicyInput, PolicyRecord } from '../../server/contract/endpoints/policy.ts'
import { ApiFailure, api, readJson } from '../api/client.ts'
import { policiesQuery } from '../api/queries.ts'
import { tabStorage } from '../shared/browser-storage.ts'
import { useSingleMutation } from '../shared/forms/use-single-mutation.ts'
import { useReportedMutation } from '../shared/reports/use-reported-mutation.ts'
import { showToast } from '../shared/toast/toast.ts'
import { dropPastRemoval, samePolicy } from './rule-changes.ts'
import { type PolicyTrial, TRIAL_KEY, trialStore } from './trial.ts'

/** How long a policy is tried, s. */
const TRIAL_SECONDS = 60

/** A change of the policy of an endpoint. Null stands for the defaults. */
export interface PolicySave {
  readonly before: Policy | null
  /** The revision that the stored policy must have; undefined if there must be none. */
  readonly revision: number | undefined
  readonly input: PolicyInput | null
  /** Whether the previous policy returns unless the change is confirmed. */
  readonly isTrial?: boolean
  /** What the toast says: "Policy of tcp://127.0.0.1:8530 saved". */
  readonly done: string
  /** The console at another endpoint, if the change disconnects this page. */
  readonly otherConsole?: { readonly address: string; readonly url: string } | undefined
  readonly disconnects?: boolean | undefined
}

/** The requests answer with a trial if they begin one; otherwise with the stored policy. */
type Stored = PolicyRecord | { readonly id: string; readonly until: string } | null

async function sendPolicy(
  address: string,
  { input, revision, isTrial = false }: Pick<PolicySave, 'input' | 'revision' | 'isTrial'>,
): Promise<Stored> {
  const query = { endpoint: address }
  const headers: Record<string, string> =
    revision === undefined ? { 'If-None-Match': '*' } : { 'If-Match': `"${revision}"` }
  if (input !== null || isTrial) {
    const trial = isTrial ? { try: `${TRIAL_SECONDS}` } : {}
    const request = { query: { ...query, ...trial }, json: input ?? {} }
    return (await readJson(api._api.policy.$put(request, { headers }))) as Stored
  }
  if (revision !== undefined) await readJson(api._api.policy.$delete({ query }, { headers }))
  return null
}

/** Returns whether the policy was changed by someone else. */
export const isPolicyConflict = (error: Error): boolean =>
  error instanceof ApiFailure && error.status === 412

/** Saves or tries a policy. Afterwards, it offers to undo the change. */
export function useSavePolicy(address: string) {
  const queryClient = useQueryClient()
  return useReportedMutation({
    change: () => ({ what: `The policy of ${address}`, done: 'saved' }),
    mutationFn: async (save: PolicySave) => {
      const sentAt = Date.now()
      try {
        return { stored: await sendPolicy(address, save), sentAt }
      } catch (error) {
        // The form shows the stored policy beside the edited one.
        if (isPolicyConflict(error as Error)) await refetchPolicies(queryClient)
        throw error
      }
    },
    onSuccess: ({ stored, sentAt }, save) => {
      const { before } = save
      if (stored !== null && 'id' in stored) {
        // Not the time of the server, whose clock may differ.
        const until = sentAt + TRIAL_SECONDS * 1_000
        setTrial({ id: stored.id, endpoint: address, until, before })
      } else {
        storeRecord(queryClient, address, stored)
        showPolicyChange(queryClient, { ...save, address, stored })
      }
      void refetchPolicies(queryClient)
    },
  })
}

/** Refetches the policies where they are shown. Never rejects. */
const refetchPolicies = (queryClient: QueryClient): Promise<void> =>
  queryClient.invalidateQueries({ queryKey: policiesQuery.queryKey })

/** Writes a policy to the cache: a disconnected page cannot refetch it. */
function storeRecord(queryClient: QueryClient, address: string, stored: PolicyRecord | null) {
  queryClient.setQueryData(policiesQuery.queryKey, (records: PolicyRecord[] | undefined) => {
    const others = records?.filter(({ endpoint }) => endpoint !== address)
    return others && (stored === null ? others : [...others, stored])
  })
}

/** Shows a change of a policy, with Undo or with a link to the console at another endpoint. */
export function showPolicyChange(
  queryClient: QueryClient,
  change: Pick<PolicySave, 'before' | 'done' | 'otherConsole' | 'disconnects'> & {
    readonly address: string
    readonly stored: PolicyRecord | null
  },
): void {
  const { address, before, stored, done, otherConsole, disconnects = false } = change
  if (otherConsole !== undefined) {
    const { url } = otherConsole
    const actions = [{ label: `Open the console at ${otherConsole.address}`, href: url }]
    showToast({ text: done, name: address, actions, stays: true })
    return
  }
  const canUndo = !disconnects && !samePolicy(before, stored?.policy ?? null)
  showToast({
    text: done,
    name: address,
    ...(canUndo && {
      undo: async () => {
        const input = before && dropPastRemoval(before, Date.now())
        await sendPolicy(address, { input, revision: stored?.revision })
        await refetchPolicies(queryClient)
        return { text: `Previous policy of ${address} restored`, name: address }
      },
    }),
  })
}

/** Stores a trial, or ends it. */
export function setTrial(trial: PolicyTrial | undefined): void {
  if (trial === undefined) tabStorage.remove(TRIAL_KEY)
  else tabStorage.set(TRIAL_KEY, JSON.stringify(trial))
  trialStore.set(trial)
}

/** Keeps a policy that is being tried. Afterwards, it offers to undo the change. */
export function useKeepTrial({ id, endpoint, before }: PolicyTrial) {
  const queryClient = useQueryClient()
  return useSingleMutation({
    mutationFn: async () => {
      await readJson(api._api['policy-trial'][':id'].confirm.$post({ param: { id } }))
      return (await readJson(api._api.policy.$get({ query: { endpoint } }))) as PolicyRecord
    },
    onSuccess: (stored) => {
      setTrial(undefined)
      const done = `Policy of ${endpoint} kept`
      showPolicyChange(queryClient, { address: endpoint, before, stored, done })
    },
    onError: (error) => {
      const hasEnded = error instanceof ApiFailure && error.status === 404
      if (hasEnded) setTrial(undefined)
      showToast({
        text: `Policy of ${endpoint} not kept`,
        name: endpoint,
        failures: [{ reason: error.message }],
      })
    },
    onSettled: () => refetchPolicies(queryClient),
  })
}

/** The address of this browser as the server sees it; null if it is unknown. */
export const ownAddressQuery = (person: string) =>
  queryOptions({
    queryKey: ['person', person, 'address'],
    queryFn: async ({ signal }) => {
      const request = { param: { id: person } }
      const sessions = await readJson(
        api._api.user[':id'].session.$get(request, { init: { signal } }),
      )
      return sessions.find(({ current }) => current)?.address ?? null
    },
  })

/** A request to test, as the form has it. */
export interface TestedRequest {
  readonly client: string | null
  readonly credential: 'none' | 'invalid' | 'viewer' | 'editor' | 'operator' | 'admin'
  readonly method: string
  readonly path: string
  readonly origin: string
}

/** Resolves with the rule of a policy that decides on a request, which is not sent. */
export const testPolicy = (
  endpoint: string,
  policy: PolicyInput | null,
  { credential, origin, ...request }: TestedRequest,
) =>
  readJson(
    api._api['policy-test'].$post({
      json: {
        endpoint,
        policy,
        ...request,
        credential:
          credential === 'none' || credential === 'invalid' ? credential : { role: credential },
        ...(origin !== '' && { origin }),
      },
    }),
  )

/** Whether `allow` and `deny` of a policy admit a client. */
export const admissionQuery = (
  endpoint: string,
  { allow, deny }: Pick<PolicyInput, 'allow' | 'deny'>,
  client: string | null | undefined,
) =>
  queryOptions({
    queryKey: ['policy-test', endpoint, allow, deny, client],
    queryFn: async () => {
      const policy = { ...(allow && { allow }), ...(deny && { deny }) }
      const request = {
        credential: 'none',
        method: 'GET',
        path: '/_api/health',
        origin: '',
      } as const
      const { rule } = await testPolicy(endpoint, policy, { ...request, client: client ?? null })
      return rule !== 'allow'
    },
    enabled: client != null && (allow !== undefined || deny !== undefined),
    // An invalid address is reported when the policy is saved.
    retry: false,
    gcTime: 0,
  })
