import type { NextTurn } from '../../concurrency/turns.ts'
import type { Json } from '../../contract/json/json.ts'
import type { SnapshotReader } from './snapshot-reader.ts'

/** A document to export. `parsed` is its body, if it was needed to find the document. */
export interface MatchingDocument {
  readonly id: string
  readonly body: string
  readonly parsed?: Json
}

export interface ReadMatchingDeps {
  readonly reader: SnapshotReader
  readonly nextTurn: NextTurn
  /** Throws if the export must end. */
  readonly check: () => void
}

/** Matching documents, some at a time. */
export type Batches = AsyncGenerator<readonly MatchingDocument[], void>
