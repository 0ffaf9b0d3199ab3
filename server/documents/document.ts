import { hash, randomFillSync } from 'node:crypto'
import { DOCUMENT_BYTES, documentIdError, documentTooLarge } from '../contract/document.ts'
import type { Json } from '../contract/json/json.ts'
import { requireJsonLimits } from '../contract/json/json-limits.ts'
import { mergePatch } from '../contract/json/merge-patch.ts'
import { parseJson } from '../contract/json/parse-json.ts'
import { printJson } from '../contract/json/strict-json.ts'
import { Failure } from '../failure.ts'
import { OutcomeUnknown } from '../storage/availability/unavailable.ts'

/** A document to store. The body is its JSON object, with the id. */
export interface NewDocument {
  readonly id: string
  readonly body: string
}

/**
 * Returns whether the JSON of a document is handled in a turn of the event loop of its own. That of
 * a smaller one takes about a millisecond.
 */
export const isLarge = ({ length }: string): boolean => length > 64 * 1024

/**
 * Returns a value as a document to store. Generates an id if there is none.
 *
 * @param printed the value as {@link printJson} prints it, if it has been printed already.
 * @throws Failure `invalid`, `too-large`
 */
export function toDocument(
  value: Json,
  known: string | undefined,
  now: () => number,
  printed = printJson(value),
): NewDocument {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Failure('invalid', 'A document must be a JSON object.', { field: '' })
  }
  const ownId = Object.hasOwn(value, 'id') ? value.id : undefined
  if (ownId !== undefined) requireDocumentId(ownId)
  if (known !== undefined && ownId !== undefined && ownId !== known) {
    throw new Failure(
      'invalid',
      `The id in the document differs from the id in the path, ${quoteId(known)}.`,
      { field: '/id' },
    )
  }
  const id = known ?? ownId ?? createDocumentId(now())
  const body = ownId === undefined ? withId(printed, id) : printed
  if (Buffer.byteLength(body) > DOCUMENT_BYTES) throw documentTooLarge()
  return { id, body }
}

/**
 * Returns the document that a merge patch (RFC 7396) makes of a stored one.
 *
 * @throws Failure `invalid`, `too-large`
 */
export function patchDocument(
  { id, body }: NewDocument,
  patch: Json,
  now: () => number,
): NewDocument {
  const value = mergePatch(parseJson(body), patch)
  const printed = printJson(value)
  requireJsonLimits(printed)
  return toDocument(value, id, now, printed)
}

/** Adds an id to a printed object. A copy of an object with many keys would take longer. */
const withId = (printed: string, id: string) =>
  `{"id":${printJson(id)}${printed === '{}' ? '' : ','}${printed.slice(1)}`

/** @throws Failure `invalid` if a value cannot be the id of a document. */
export function requireDocumentId(value: Json): asserts value is string {
  const error = documentIdError(value)
  if (error !== undefined) throw new Failure('invalid', error, { field: '/id' })
}

/** Quotes the first 64 characters of a text, for messages. */
export const quoteId = (text: string) => JSON.stringify(text.slice(0, 64))

/**
 * Returns an error handler that adds the documents' ids to an {@link OutcomeUnknown}, so that the
 * client can look them up.
 */
export const withDocumentIds = (documents: readonly NewDocument[]) => (error: unknown) => {
  if (!(error instanceof OutcomeUnknown)) throw error
  throw new OutcomeUnknown({ cause: error.cause, ids: documents.map(({ id }) => id) })
}

/** Returns the failure for an id that exists. */
export const existsFailure = (id: string) =>
  new Failure('conflict', `A document with the id ${quoteId(id)} already exists.`, { field: '/id' })

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

let lastTime = 0
let time = ''
/**
 * The random part of the last id, one base-32 digit per byte. An increment usually changes one
 * byte.
 */
const random = new Uint8Array(16)

/**
 * Returns an id that sorts by creation time: 48 bits of milliseconds and 80 random bits, as 26
 * characters of Crockford's base 32 (a ULID in lower case). Ids of the same millisecond increment
 * the random part.
 */
export function createDocumentId(now: number): string {
  if (now > lastTime) {
    lastTime = now
    time = encodeTime(now)
    randomFillSync(random)
    for (let at = 0; at < random.length; at++) random[at] = (random[at] as number) & 31
    // Clears the highest bit, so that increments within a millisecond cannot overflow.
    random[0] = (random[0] as number) & 15
  } else {
    let at = random.length - 1
    while (random[at] === 31) random[at--] = 0
    random[at] = (random[at] as number) + 1
  }
  let text = time
  for (let at = 0; at < random.length; at++) text += ALPHABET[random[at] as number]
  return text
}

function encodeTime(now: number): string {
  let text = ''
  for (let rest = now; text.length < 10; rest = Math.floor(rest / 32)) {
    text = ALPHABET.charAt(rest % 32) + text
  }
  return text
}

const pool = Buffer.alloc(4096)
let used = pool.length

/** Returns a unique tag for a new state of a document: 72 random bits. */
export function createEntityTag(): string {
  if (used + 9 > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const tag = pool.toString('base64url', used, used + 9)
  used += 9
  return tag
}

/** Returns a tag of several documents. @param tags their tags, one per line. */
export const tagOfAll = (tags: string): string => hash('sha256', tags, 'base64url').slice(0, 22)
