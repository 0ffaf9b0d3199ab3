import { uncodedTag } from './content-coding.ts'

/** The conditions of a request on the current state of a resource (RFC 9110 §13.1). */
export interface Conditions {
  /** `If-Match`: one of these tags, or `*` for any state. */
  readonly match: readonly string[] | '*' | undefined
  /** `If-None-Match`: none of these tags, or `*` for no state at all. */
  readonly noneMatch: readonly string[] | '*' | undefined
}

/**
 * Returns whether `If-Match` holds, by strong comparison: a weak tag never matches (RFC 9110
 * §13.1.1). `tag` is undefined for a state without a tag.
 */
export const matches = ({ match }: Pick<Conditions, 'match'>, tag: string | undefined): boolean =>
  match === undefined || match === '*' || (tag !== undefined && match.includes(tag))

/** Returns whether `If-None-Match` holds, by weak comparison (RFC 9110 §13.1.2). */
export const matchesNone = ({ noneMatch }: Conditions, tag: string): boolean =>
  noneMatch === undefined ||
  (noneMatch !== '*' && !noneMatch.some((each) => each === tag || each === `W/${tag}`))

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
