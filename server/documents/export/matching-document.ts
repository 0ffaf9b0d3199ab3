import type { Json } from '../../contract/json/json.ts'
import { namesOf } from '../find/entry-documents.ts'
import type { IndexPlan } from '../indexes/plan.ts'
import type { ExportQuery } from '../query/query.ts'
import { parseFields } from '../read-fields.ts'
import type { SnapshotReader } from './snapshot-reader.ts'

/**
 * A document to export. `parsed` has at least the fields that the query reads, if they were needed
 * to find the document.
 */
export interface MatchingDocument {
  readonly id: string
  readonly body: string
  readonly parsed?: Json
}

export interface ReadMatchingDeps {
  readonly reader: SnapshotReader
  /** Throws if the export must end. */
  readonly check: () => void
}

/** Matching documents, some at a time. */
export type Batches = AsyncGenerator<readonly MatchingDocument[], void>

/**
 * Returns a function that parses a document: of a large one, only the fields that the query reads,
 * and those of the index that serves it.
 */
export function createDocumentParser(
  { reads }: Pick<ExportQuery, 'reads'>,
  plan?: IndexPlan,
): (body: string) => Json | undefined {
  const names = plan === undefined ? reads : namesOf(plan, { reads })
  return (body) => parseFields(body, names)
}
