import { randomFillSync } from 'node:crypto'

const pool = Buffer.alloc(4096)
let used = pool.length

/** Makes the tag of a new state of a document: 72 random bits, never given twice. */
export function createEntityTag(): string {
  if (used + 9 > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const tag = pool.toString('base64url', used, used + 9)
  used += 9
  return tag
}

/** What a request asks of the present state of a document (RFC 9110 §13.1). */
export interface Conditions {
  /** `If-Match`: one of these tags, or `*`: any. */
  readonly match: readonly string[] | '*' | undefined
  /** `If-None-Match`: none of these, or `*`: nothing there at all. */
  readonly noneMatch: readonly string[] | '*' | undefined
}

/** Whether `If-Match` holds; compared strongly, so a weak tag never does (RFC 9110 §13.1.1). */
export const matches = ({ match }: Conditions, tag: string): boolean =>
  match === undefined || match === '*' || match.includes(tag)

/** Whether `If-None-Match` holds; compared weakly (RFC 9110 §13.1.2). */
export const matchesNone = ({ noneMatch }: Conditions, tag: string): boolean =>
  noneMatch === undefined ||
  (noneMatch !== '*' && !noneMatch.some((each) => each === tag || each === `W/${tag}`))

/** Reads the conditions of a request's headers. */
export function readConditions(
  ifMatch: string | undefined,
  ifNoneMatch: string | undefined,
): Conditions {
  return { match: tags(ifMatch), noneMatch: tags(ifNoneMatch) }
}

/** The tags of a list, without their quotes; a weak one with `W/` before it. */
function tags(header: string | undefined): readonly string[] | '*' | undefined {
  if (header === undefined) return undefined
  if (header.trim() === '*') return '*'
  return header.split(',').map((each) => unquoted(each.trim()))
}

/** A tag without its quotes. A pattern for it would begin again at each quote. */
function unquoted(tag: string): string {
  const begin = tag.indexOf('"')
  const end = tag.length - 1
  if (begin === -1 || begin === end || !tag.endsWith('"')) return tag
  return tag.slice(0, begin) + tag.slice(begin + 1, end)
}
