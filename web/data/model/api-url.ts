import type { PagePosition } from '../data-search.ts'
import type { Condition } from './conditions.ts'

/** Characters that need no percent-encoding in a query and that are easier to read without it. */
const READABLE = /%(?:2C|2F|3A|40)/g

const encode = (text: string) =>
  encodeURIComponent(text).replace(READABLE, (code) => decodeURIComponent(code))

/**
 * Returns the path and query of the API for the documents that match, in this order. Without a
 * position, they are those from the first one.
 */
export function toApiPath(
  { database, collection }: { readonly database: string; readonly collection: string },
  conditions: readonly Condition[],
  sort = '',
  { after, cursor }: PagePosition = {},
): string {
  const query = conditions.map(({ name, value }) => `${encode(name)}=${encode(value)}`)
  if (sort !== '') query.push(`sort=${encode(sort)}`)
  if (after !== undefined) query.push(`after=${encode(after)}`)
  if (cursor !== undefined) query.push(`cursor=${encode(cursor)}`)
  const path = `/_db/${encodeURIComponent(database)}/${encodeURIComponent(collection)}`
  return query.length === 0 ? path : `${path}?${query.join('&')}`
}
