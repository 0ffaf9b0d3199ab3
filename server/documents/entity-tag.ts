import { randomFillSync } from 'node:crypto'
import { uncodedTag } from '../contract/content-coding.ts'
import { Failure } from '../failure.ts'

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

/** The conditions of a request on the current state of a document (RFC 9110 §13.1). */
export interface Conditions {
  /** `If-Match`: one of these tags, or `*` for any state. */
  readonly match: readonly string[] | '*' | undefined
  /** `If-None-Match`: none of these tags, or `*` for no document at all. */
  readonly noneMatch: readonly string[] | '*' | undefined
}

/**
 * Returns whether `If-Match` holds, by strong comparison: a weak tag never matches (RFC 9110
 * §13.1.1). `tag` is undefined for a state without a tag.
 */
export const matches = ({ match }: Conditions, tag: string | undefined): boolean =>
  match === undefined || match === '*' || (tag !== undefined && match.includes(tag))

/** Returns whether `If-None-Match` holds, by weak comparison (RFC 9110 §13.1.2). */
export const matchesNone = ({ noneMatch }: Conditions, tag: string): boolean =>
  noneMatch === undefined ||
  (noneMatch !== '*' && !noneMatch.some((each) => each === tag || each === `W/${tag}`))

/**
 * Rejects the conditions of a change whose target has no entity tag.
 *
 * @param what the resource, and what to do instead, without a final period.
 * @throws Failure `precondition-failed`
 */
export function requireNoConditions({ match, noneMatch }: Conditions, what: string): void {
  if ((match === undefined || match === '*') && noneMatch === undefined) return
  throw new Failure('precondition-failed', `Preconditions are not supported for ${what}.`, {
    field: noneMatch === undefined ? 'If-Match' : 'If-None-Match',
  })
}

/** Parses the conditional headers of a request. */
export function readConditions(
  ifMatch: string | undefined,
  ifNoneMatch: string | undefined,
): Conditions {
  return { match: tags(ifMatch), noneMatch: tags(ifNoneMatch) }
}

/**
 * Returns the tags of a list without their quotes, and without the suffix of a compressed response.
 * A weak tag keeps its `W/`.
 */
function tags(header: string | undefined): readonly string[] | '*' | undefined {
  if (header === undefined) return undefined
  if (header.trim() === '*') return '*'
  return header.split(',').map((each) => uncodedTag(unquoted(each.trim())))
}

/** Returns a tag without its quotes. A regular expression would backtrack at each quote. */
function unquoted(tag: string): string {
  const begin = tag.indexOf('"')
  const end = tag.length - 1
  if (begin === -1 || begin === end || !tag.endsWith('"')) return tag
  return tag.slice(0, begin) + tag.slice(begin + 1, end)
}
