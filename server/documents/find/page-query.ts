import type { Position } from '../query/order.ts'
import type { DocumentQuery, SkipsDamaged } from '../query/query.ts'

/** The part of a query that selects a page. */
export interface PageQuery
  extends Pick<DocumentQuery, 'conditions' | 'matches' | 'sort' | 'fields' | 'reads' | 'limit'>,
    SkipsDamaged {
  /** The position after which the page begins. */
  readonly from: Position | undefined
  /** Whether to count all documents that match. */
  readonly count: boolean
}
