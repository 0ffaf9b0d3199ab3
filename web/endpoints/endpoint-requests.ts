import type { EndpointRecord } from '../../server/contract/endpoint.ts'
import { ApiFailure, answer, api, NoAnswer } from '../api.ts'
import { sameMapping } from './mapping.ts'

/** What must hold for a change to be made; with neither, it is made in any case. */
export interface Condition {
  /** The endpoint still has this revision (If-Match); otherwise 412. */
  readonly revision?: number | undefined
  /** There is no such endpoint (If-None-Match); otherwise 412. */
  readonly onlyNew?: boolean
}

/** Adds an endpoint, or maps it anew. Throws {@link ApiFailure} and {@link NoAnswer}. */
export async function postEndpoint(record: EndpointRecord, condition: Condition): Promise<void> {
  const { revision, onlyNew = false } = condition
  const headers: Record<string, string> = {
    ...(revision === undefined ? {} : { 'If-Match': `"${revision}"` }),
    ...(onlyNew ? { 'If-None-Match': '*' } : {}),
  }
  await answer(api._api.endpoint.$post({ json: record }, { headers }))
}

/**
 * Removes an endpoint; tells whether it was there. Where the connection breaks, it looks whether it is
 * gone. Throws {@link ApiFailure}, or an `Error` with a sentence where it is not, or not known.
 */
export async function deleteEndpoint(address: string, revision?: number): Promise<boolean> {
  const headers: Record<string, string> =
    revision === undefined ? {} : { 'If-Match': `"${revision}"` }
  const param = { address: encodeURIComponent(address) }
  try {
    await answer(api._api.endpoint[':address{.+}'].$delete({ param }, { headers }))
    return true
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 404) return false
    if (!(error instanceof NoAnswer)) throw error
    const found = await readEndpoint(address).catch(() => null)
    if (found === null) throw new Error(NOT_KNOWN)
    if (found !== undefined) throw new Error('The connection broke before it was removed.')
    return true
  }
}

/** The endpoint of that address as it is stored now; `undefined` where there is none. */
export async function readEndpoint(address: string): Promise<EndpointRecord | undefined> {
  const list = await answer(api._api.endpoint.$get({ query: { endpoint: [address] } }))
  return list.find(({ endpoint }) => endpoint === address)
}

/** The revision of an endpoint as its listeners tell it now; `undefined` where none does. */
export async function readRevision(address: string): Promise<number | undefined> {
  const list = await answer(api._api.listener.$get({ query: { endpoint: [address] } }))
  return list.find(({ state }) => state !== 'draining')?.revision
}

/**
 * Brings a removed endpoint back, with its mapping, unless somebody has added it meanwhile. Answers
 * why that cannot be; `undefined` once it is there.
 */
export async function restoreEndpoint(record: EndpointRecord): Promise<string | undefined> {
  try {
    await postEndpoint(record, { onlyNew: true })
    return undefined
  } catch (error) {
    const open = error instanceof NoAnswer
    const there = error instanceof ApiFailure && error.status === 412
    if (!open && !there) return (error as Error).message
    const found = await readEndpoint(record.endpoint).catch(() => null)
    if (found === null) return UNSURE
    if (found === undefined) return 'The connection broke before it was back.'
    return sameMapping(found.databases, record.databases) ? undefined : OTHERS
  }
}

const NOT_KNOWN = 'Gatehouse does not answer. We do not know whether it was removed.'
const UNSURE = 'Gatehouse does not answer. We do not know whether it is back.'
const OTHERS = 'Somebody has added it anew meanwhile, with another mapping.'
