import type { ErrorBody } from '../../server/contract/acknowledgement.ts'
import type { JobView } from '../../server/contract/job.ts'
import { ApiFailure, NoAnswer } from '../api.ts'
import type { ParsedFilter } from './document-filter.ts'
import type { DocumentFields } from './document-text.ts'
import type { Place } from './use-documents-location.ts'

// Documents are asked for by plain fetch: their paths are in every database, outside of the typed
// interface, and their errors have the body of seed 002.

/** How many documents a page has. */
const PAGE = 50

/** One thing in a document that its schema does not allow. */
export interface Violation {
  /** JSON Pointer (RFC 6901) of the place; empty: the document itself. */
  readonly pointer: string
  readonly message: string
}

/** The server refused something about documents. */
export class DocumentFailure extends ApiFailure {
  /** By which programs know it: `not_found`. */
  readonly id: string
  readonly violations: readonly Violation[]

  constructor(status: number, message: string, violations: readonly Violation[], id = '') {
    super(status, 0, message)
    this.id = id
    this.violations = violations
  }
}

/** A document as it is stored, and the tag of this state. */
export interface Stored {
  readonly id: string
  readonly json: string
  readonly etag: string
}

/** A part of a collection. */
export interface DocumentsPage {
  readonly documents: readonly DocumentFields[]
  /** The id after which the next part begins; undefined: there is none. */
  readonly next: string | undefined
}

/** Reads a part of a collection, in the order of ids. */
export async function readPage(
  place: Place,
  { after, filter }: { after: string | undefined; filter: ParsedFilter | undefined },
  signal: AbortSignal,
): Promise<DocumentsPage> {
  const query = new URLSearchParams({ limit: `${PAGE}` })
  if (after !== undefined) query.set('after', after)
  if (filter !== undefined && 'fields' in filter) {
    for (const [field, value] of filter.fields) query.append(field, value)
  }
  const response = await send(`${urlOf(place)}?${query}`, { signal })
  const documents = (await read(response.json())) as DocumentFields[]
  return { documents, next: nextOf(response.headers.get('Link')) }
}

/** Reads a document. @throws DocumentFailure 404 where there is none. */
export async function readDocument(place: Place, id: string, signal?: AbortSignal) {
  return stored(await send(urlOf(place, id), signal === undefined ? {} : { signal }))
}

/** Creates a document of its JSON text. @throws DocumentFailure 409 where its id exists. */
export async function createDocument(place: Place, json: string): Promise<Stored> {
  return stored(await send(urlOf(place), { method: 'POST', body: json, headers: JSON_TYPE }))
}

/** Replaces a document in that state. @throws DocumentFailure 412 where it has moved on. */
export async function replaceDocument(place: Place, was: Stored, json: string): Promise<Stored> {
  const headers = { ...JSON_TYPE, 'If-Match': was.etag }
  return stored(await send(urlOf(place, was.id), { method: 'PUT', body: json, headers }))
}

/** Deletes a document in that state. @throws DocumentFailure 412 where it has moved on. */
export async function deleteDocument(place: Place, { id, etag }: Stored): Promise<void> {
  await send(urlOf(place, id), {
    method: 'DELETE',
    headers: { 'If-Match': etag, Prefer: 'return=minimal' },
  })
}

/** The schema of a collection, and the tag of this state. */
export type StoredSchema = Omit<Stored, 'id'>

/** Reads the schema of a collection; null: it has none. */
export async function readSchema(place: Place, signal?: AbortSignal): Promise<StoredSchema | null> {
  try {
    const response = await send(schemaUrl(place), signal === undefined ? {} : { signal })
    return await schemaOf(response)
  } catch (error) {
    if (error instanceof DocumentFailure && error.status === 404 && error.id === 'not_found') {
      return null
    }
    throw error
  }
}

/** Puts a schema in the place of that one, or of none. @throws DocumentFailure 412 */
export async function putSchema(place: Place, was: string | undefined, json: string) {
  const condition: Record<string, string> =
    was === undefined ? { 'If-None-Match': '*' } : { 'If-Match': was }
  const headers = { ...JSON_TYPE, ...condition }
  return schemaOf(await send(schemaUrl(place), { method: 'PUT', body: json, headers }))
}

/** Takes the schema of a collection away, in that state. @throws DocumentFailure 412 */
export async function deleteSchema(place: Place, etag: string): Promise<void> {
  await send(schemaUrl(place), { method: 'DELETE', headers: { 'If-Match': etag } })
}

/** Has all documents of a collection deleted; the id of the job that does it. */
export const deleteAll = (place: Place): Promise<string> =>
  begun(send(urlOf(place), { method: 'DELETE', headers: LATER }))

/** Has the documents of a JSON array created, all or none; the id of the job that does it. */
export const uploadAll = (place: Place, array: Blob): Promise<string> =>
  begun(send(urlOf(place), { method: 'POST', body: array, headers: { ...JSON_TYPE, ...LATER } }))

/** How far a job is. @throws DocumentFailure 404 where it is not known (any more). */
export async function readJob(database: string, id: string, signal: AbortSignal): Promise<JobView> {
  const url = `/_db/${encodeURIComponent(database)}/_job/${encodeURIComponent(id)}`
  return (await read((await send(url, { signal })).json())) as JobView
}

async function begun(pending: Promise<Response>): Promise<string> {
  const { id } = (await read((await pending).json())) as { id: string }
  return id
}

async function schemaOf(response: Response): Promise<StoredSchema> {
  return { json: await read(response.text()), etag: response.headers.get('ETag') ?? '' }
}

const schemaUrl = ({ database, collection }: Place): string =>
  `/_db/${encodeURIComponent(database)}/_schema/${encodeURIComponent(collection)}`

const LATER = { Prefer: 'respond-async' }

const JSON_TYPE = { 'Content-Type': 'application/json' }

function urlOf({ database, collection }: Place, id?: string): string {
  const url = `/_db/${encodeURIComponent(database)}/${encodeURIComponent(collection)}`
  if (id === undefined) return url
  // Browsers take these for a way up, also when encoded: the URL would be of something else.
  if (id === '.' || id === '..') {
    throw new DocumentFailure(404, `A browser cannot ask for the id “${id}”. Programs can.`, [])
  }
  return `${url}/${encodeURIComponent(id)}`
}

async function send(url: string, init: RequestInit): Promise<Response> {
  const headers = { Accept: 'application/json; version=1', 'X-Gatehouse': '1', ...init.headers }
  const response = await fetch(url, { ...init, headers, cache: 'no-store' }).catch(
    (cause: unknown) => {
      throw new NoAnswer(cause)
    },
  )
  if (response.ok) return response
  const body = (await response.json().catch(() => ({}))) as Partial<ErrorBody>
  const message = body.message ?? `The server answered ${response.status} and gave no reason.`
  throw new DocumentFailure(response.status, message, violationsOf(body), body.id)
}

/** An answer that breaks off in the middle is none. */
const read = <T>(body: Promise<T>): Promise<T> =>
  body.catch((cause: unknown) => {
    throw new NoAnswer(cause)
  })

async function stored(response: Response): Promise<Stored> {
  const json = await read(response.text())
  const { id } = JSON.parse(json) as { id: string }
  return { id, json, etag: response.headers.get('ETag') ?? '' }
}

function violationsOf(body: object): Violation[] {
  if (!('violations' in body) || !Array.isArray(body.violations)) return []
  return body.violations.filter(
    (each): each is Violation =>
      typeof each?.pointer === 'string' && typeof each.message === 'string',
  )
}

/** Of `Link: </_db/a/b?after=x>; rel="next"` (RFC 8288), the id. */
function nextOf(link: string | null): string | undefined {
  const target = link === null ? null : /^<([^>]*)>; *rel="next"/.exec(link)
  if (target?.[1] === undefined) return undefined
  return new URL(target[1], location.href).searchParams.get('after') ?? undefined
}
