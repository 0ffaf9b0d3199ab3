import type { EndpointRecord } from '../../server/contract/endpoints/endpoint.ts'
import type { EndpointChangeOutcome } from '../../server/contract/endpoints/endpoint-change.ts'
import type { Policy, PolicyRecord } from '../../server/contract/endpoints/policy.ts'
import { ApiFailure, api, NoResponse, readJson } from '../api/client.ts'
import { samePolicy } from '../policy/rule-changes.ts'
import type { EndpointChange, PolicyChange } from './guard/check-changes.ts'
import { formatList } from './model/format-list.ts'
import { sameState } from './model/mapping.ts'

/** Precondition of a change. Without one, the change is unconditional. */
export interface Precondition {
  /** Requires this revision (`If-Match`); otherwise the server responds with 412. */
  readonly revision?: number | undefined
  /** Requires that the endpoint does not exist (`If-None-Match`); otherwise 412. */
  readonly onlyNew?: boolean
}

/** Adds an endpoint or changes its mapping. Throws {@link ApiFailure} or {@link NoResponse}. */
export async function postEndpoint(record: EndpointRecord, condition: Precondition): Promise<void> {
  const { revision, onlyNew = false } = condition
  const headers: Record<string, string> = {
    ...(revision === undefined ? {} : { 'If-Match': `"${revision}"` }),
    ...(onlyNew ? { 'If-None-Match': '*' } : {}),
  }
  await readJson(api._api.endpoint.$post({ json: record }, { headers }))
}

/**
 * Adds an endpoint with a policy, which is stored before the endpoint opens. Without a policy, it is
 * {@link postEndpoint}.
 */
export async function addEndpoint(record: EndpointRecord, policy: Policy | null): Promise<void> {
  if (policy === null) return postEndpoint(record, { onlyNew: true })
  const json = { changes: [{ ...record, policy, expect: null }] }
  const response = readJson(api._api['endpoint-change'].$post({ json }))
  const [outcome] = (await response) as EndpointChangeOutcome[]
  if (outcome === undefined) throw new Error('The endpoint was not added. Try again.')
  if (outcome.state !== 'failed') return
  throw new ApiFailure(outcome.code, outcome.errorNum, outcome.errorMessage, outcome)
}

/** Returns the policy of an endpoint, if it has one. */
async function readPolicy(address: string): Promise<PolicyRecord | undefined> {
  try {
    const query = { endpoint: address }
    return (await readJson(api._api.policy.$get({ query }))) as PolicyRecord
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 404) return undefined
    throw error
  }
}

/**
 * Removes an endpoint and returns whether it existed. If the connection breaks, it checks whether
 * the endpoint is gone. Throws {@link ApiFailure}, or an `Error` for users if the endpoint still
 * exists or its state is unknown.
 */
export async function deleteEndpoint(address: string, revision?: number): Promise<boolean> {
  const headers: Record<string, string> =
    revision === undefined ? {} : { 'If-Match': `"${revision}"` }
  try {
    await readJson(api._api.endpoint.$delete({ query: { endpoint: address } }, { headers }))
    return true
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 404) return false
    if (!(error instanceof NoResponse)) throw error
    const found = await readEndpoint(address).catch(() => null)
    if (found === null) throw new Error(REMOVAL_UNCONFIRMED)
    if (found !== undefined)
      throw new Error('The connection failed before the endpoint was removed. Try again.')
    return true
  }
}

/** Returns the stored endpoint with this address, if there is one. */
export async function readEndpoint(address: string): Promise<EndpointRecord | undefined> {
  const list = await readJson(api._api.endpoint.$get({ query: { endpoint: [address] } }))
  return list.find(({ endpoint }) => endpoint === address)
}

/** Returns the revision of an endpoint that its listeners report, if one is not draining. */
export async function readRevision(address: string): Promise<number | undefined> {
  const list = await readJson(api._api.listener.$get({ query: { endpoint: [address] } }))
  return list.find(({ state }) => state !== 'draining')?.revision
}

/**
 * Applies a change only if the endpoint still has the state `before`, so that it does not overwrite
 * the change of another user. Returns the reason if the change is not applied, otherwise
 * `undefined`.
 */
export async function changeEndpoint(change: EndpointChange): Promise<string | undefined> {
  const { address, before, after, policy } = change
  if (policy !== undefined && before !== null && after !== null) {
    return await changePolicy(address, policy)
  }
  try {
    return await sendChange(change)
  } catch (error) {
    const unsure = error instanceof NoResponse
    const conflict = error instanceof ApiFailure && error.status === 412
    if (!unsure && !conflict) return (error as Error).message
    const found = await readEndpoint(change.address).catch(() => null)
    if (found === null) return CHANGE_UNCONFIRMED
    const now = found?.databases ?? null
    if (sameState(now, change.after)) return undefined
    if (unsure && sameState(now, change.before)) return CHANGE_NOT_SENT
    return formatConflict(now)
  }
}

async function sendChange({ address, before, after, policy }: EndpointChange) {
  if (before === null) {
    if (after !== null) {
      await addEndpoint({ endpoint: address, databases: [...after] }, policy?.after ?? null)
    }
    return undefined
  }
  // Read the revision first: if the mapping changes between the two reads, the server rejects it.
  const revision = await readRevision(address)
  const now = (await readEndpoint(address))?.databases ?? null
  if (sameState(now, after)) return undefined
  if (!sameState(now, before)) return formatConflict(now)
  if (revision === undefined) return NO_REVISION
  if (after === null) await deleteEndpoint(address, revision)
  else await postEndpoint({ endpoint: address, databases: [...after] }, { revision })
  return undefined
}

/** Changes the policy of an endpoint as {@link changeEndpoint} does. */
async function changePolicy(
  address: string,
  { before, after }: PolicyChange,
): Promise<string | undefined> {
  try {
    const now = await readPolicy(address)
    if (samePolicy(now?.policy ?? null, after)) return undefined
    if (!samePolicy(now?.policy ?? null, before)) return RULES_CHANGED
    const query = { endpoint: address }
    const headers: Record<string, string> =
      now === undefined ? { 'If-None-Match': '*' } : { 'If-Match': `"${now.revision}"` }
    if (after !== null) await readJson(api._api.policy.$put({ query, json: after }, { headers }))
    else await readJson(api._api.policy.$delete({ query }, { headers }))
    return undefined
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 412) return RULES_CHANGED
    return error instanceof NoResponse ? CHANGE_UNCONFIRMED : (error as Error).message
  }
}

/** Describes the state of an endpoint after another user changed it. */
function formatConflict(now: readonly string[] | null): string {
  if (now === null) return 'It has since been removed.'
  const mapping = now.length === 0 ? 'all databases' : formatList(now, { max: 3 })
  return `It has since been changed and now serves ${mapping}.`
}

const RULES_CHANGED = 'Its rules have since been changed.'
const REMOVAL_UNCONFIRMED =
  'Gatehouse did not respond. The endpoint may or may not have been removed.'
const CHANGE_UNCONFIRMED =
  'Gatehouse did not respond. The endpoint may or may not have been changed.'
const CHANGE_NOT_SENT = 'The connection failed before the endpoint was changed. Try again.'
const NO_REVISION = 'The state of the endpoint is not known yet. Try again.'
