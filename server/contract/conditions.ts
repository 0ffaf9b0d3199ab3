import { uncodedTag } from './content-coding.ts'

/** The conditions of a request on the current state of a resource (RFC 9110 §13.1). */
export interface Conditions {
  /** `If-Match`: one of these tags, or `*` for any state. */
  readonly match: readonly string[] | '*' | undefined
  /** `If-None-Match`: none of these tags, or `*` for no state at all. */
  readonly noneMatch: readonly string[] | '*' | undefined
}

/** Returns whether `If-Match` holds. `tag` is undefined for a state without a tag. */
export const matches = ({ match }: Pick<Conditions, 'match'>, tag: string | undefined): boolean =>
  match === undefined || match === '*' || (tag !== undefined && match.includes(tag))

/** Returns whether `If-None-Match` holds, by weak comparison (RFC 9110 §13.1.2). */
export const matchesNone = ({ noneMatch }: Conditions, tag: string): boolean =>
  noneMatch === undefined || (noneMatch !== '*' && !noneMatch.includes(tag))

/** Parses the conditional headers of a request. */
export function readConditions(
  ifMatch: string | undefined,
  ifNoneMatch: string | undefined,
): Conditions {
  return { match: tags(ifMatch), noneMatch: tags(ifNoneMatch) }
}

/** Returns the tags of a list without `W/`, quotes, and the suffix of a compressed response. */
function tags(header: string | undefined): readonly string[] | '*' | undefined {
  if (header === undefined) return undefined
  if (header.trim() === '*') return '*'
  // A weak tag counts as the strong one, also in `If-Match`: a proxy that compresses responses, such
  // as nginx with `gzip on`, adds `W/` to the tags of the server.
  return header.split(',').map((each) => uncodedTag(unquoted(each.trim().replace(/^W\//, ''))))
}

/** Returns a tag without its quotes. A regular expression would backtrack at each quote. */
function unquoted(tag: string): string {
  const begin = tag.indexOf('"')
  const end = tag.length - 1
  if (begin === -1 || begin === end || !tag.endsWith('"')) return tag
  return tag.slice(0, begin) + tag.slice(begin + 1, end)
}
