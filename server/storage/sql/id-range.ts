import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { ID_LENGTH } from '../../contract/document.ts'

/** Documents of a collection in the order of their ids, or in the opposite order. */
export interface IdRange {
  /** The id after which they begin, in this order; by default they begin with the first document. */
  readonly after?: string | undefined
  /** The last id, in this order; by default that of the last document. */
  readonly last?: string | undefined
  readonly isDescending?: boolean
}

/** A text after all ids. */
const AFTER_IDS = '\u{10ffff}'.repeat(ID_LENGTH + 1)

/** The operators and the order of ids in SQL, for both orders. */
export const ID_ORDERS = {
  ascending: { after: sql`>`, upTo: sql`<=`, direction: 'asc', order: sql`order by id` },
  descending: { after: sql`<`, upTo: sql`>=`, direction: 'desc', order: sql`order by id desc` },
} as const

export type IdOrder = (typeof ID_ORDERS)[keyof typeof ID_ORDERS]

/** Returns the text after which a range begins. */
export const beginOf = ({ after, isDescending = false }: IdRange): string =>
  after ?? (isDescending ? AFTER_IDS : '')

/** Returns the condition on `id` that a document is in a range, and the order of the range. */
export function sqlOfRange(range: IdRange): {
  readonly isWithin: RawBuilder<SqlBool>
  readonly direction: 'asc' | 'desc'
  readonly order: RawBuilder<unknown>
} {
  const { last, isDescending = false } = range
  const { after, upTo, ...order } = ID_ORDERS[isDescending ? 'descending' : 'ascending']
  const isUpTo = last === undefined ? sql`` : sql`and id ${upTo} ${last}`
  return { isWithin: sql<SqlBool>`id ${after} ${beginOf(range)} ${isUpTo}`, ...order }
}
