import type { IncomingMessage } from 'node:http'
import type { Rejection } from '../contract/endpoints/request.ts'
import { Failure } from '../failure.ts'

/** Maximum length of a recorded path and of a recorded name, characters. */
const MAX_LENGTH = 256

/** Number of characters of a token or key that a path can repeat. */
const SHORT = 32

/** What replaces a segment of a path. */
const HIDDEN = '…'

/** Why a status rejects a request. */
const BY_STATUS: ReadonlyMap<number, Rejection> = new Map([
  [401, 'credential'],
  [403, 'permission'],
  [413, 'size'],
  [421, 'host'],
  [429, 'rate'],
])

/**
 * Returns why a request was rejected: the rule of the policy, or a {@link Rejection}; null if it was
 * not.
 *
 * @param error what its handler threw.
 */
export function rejectionOf(status: number, error: Error | undefined): string | null {
  if (error instanceof Failure) {
    if (error.details.rule !== undefined) return error.details.rule
    if (error.code === 'database-not-found') return 'database' satisfies Rejection
  }
  return BY_STATUS.get(status) ?? null
}

/**
 * Returns the path of a request target without its query. Segments that could be a token or a key
 * are replaced, and so is the end of a long path.
 */
export function recordedPath({ url = '' }: Pick<IncomingMessage, 'url'>): string {
  // The absolute form can have credentials (RFC 9112 §3.2.2).
  const target = url.startsWith('/') ? url : (URL.parse(url)?.pathname ?? HIDDEN)
  const end = target.search(/[?#]/)
  let path = end === -1 ? target : target.slice(0, end)
  if (path.length > MAX_LENGTH) {
    path = path.slice(0, path.lastIndexOf('/', MAX_LENGTH - 1) + 1) + HIDDEN
  }
  path = hideSecrets(path)
  return path === url ? path : detach(path)
}

/** Matches the start of a token. */
const TOKEN = /gh_[0-9A-Za-z]{8}/

/** Matches what could be a token, a key or a code, also in base64. */
const RUNS = /[0-9A-Za-z_+/=-]{32,}/g

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Matches words with hyphens, as in titles, and the path of a Unix socket. */
const WORDS = /^[a-z/-]+$/

/** Replaces the segments of a path that could be a token or a key. */
export const hideSecrets = (path: string): string =>
  path.length < SHORT ? path : path.split('/').map(hideSecret).join('/')

function hideSecret(segment: string): string {
  if (segment.length < SHORT) return segment
  const text = decode(segment)
  if (UUID.test(text)) return segment
  const isSecret = TOKEN.test(text) || text.matchAll(RUNS).some(([run]) => !WORDS.test(run))
  return isSecret ? HIDDEN : segment
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Returns a name that is not too long to be recorded. */
export const recordedName = (name: string): string =>
  name.length > MAX_LENGTH ? detach(name.slice(0, MAX_LENGTH)) : name

/** Returns a copy of a text. V8 would keep the longer text that it is a part of. */
export const detach = (text: string): string => Buffer.from(text).toString()
