import type { Transaction } from 'kysely'
import type { OnConflict } from '../../contract/import.ts'
import type { ImportJobResult } from '../../contract/job.ts'
import type { ImportRecord } from '../../contract/records/import-record.ts'
import { Failure, type FailureCode, type FailureDetails } from '../../failure.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import type { Tables } from '../../storage/tables.ts'
import type { CountedAudit } from '../record-end.ts'

/** Records of an import as text, for a job. */
export interface StoredPart {
  readonly text: string
  readonly records: number
}

/**
 * Starts an import of a collection or a whole database, whose documents a job stores. `caller` is
 * the id of a `Caller`.
 */
export type BeginImport = (
  where: CollectionRef,
  request: { readonly onConflict?: OnConflict; readonly audit?: CountedAudit },
  parts: AsyncIterable<StoredPart>,
  caller?: string,
) => Promise<{ readonly id: string }>

/** How far a job has imported a part. */
export interface PartProgress {
  /** Documents up to this line are stored; undefined if the whole part is imported. */
  readonly line: number | undefined
  readonly result: ImportJobResult
  /** Number of records that are imported since the last commit. */
  readonly done: number
}

/** The state of an import before a part. */
export interface PartImport {
  readonly onConflict: OnConflict
  /** Documents up to this line are stored already. */
  readonly line: number
  readonly result: ImportJobResult | null
  /** Stores the progress in the transaction that stores the documents. */
  readonly commit: (trx: Transaction<Tables>, progress: PartProgress) => Promise<void>
  /** Aborted when the job is cancelled, or this node no longer holds it. */
  readonly signal: AbortSignal
}

/** A record: its line, and its text or why it cannot be read. */
type Stored = [line: number, text: string] | [number, FailureCode, string, FailureDetails]

/** Prints parts of an import for a job. */
export async function* storedParts(
  parts: AsyncIterable<readonly ImportRecord[]>,
): AsyncGenerator<StoredPart> {
  for await (const part of parts) {
    const stored = part.map((record): Stored => {
      if ('text' in record) return [record.line, record.text]
      const { code, message, details } = record.failure
      return [record.line, code, message, details]
    })
    yield { text: JSON.stringify(stored), records: part.length }
  }
}

/** Parses a part that {@link storedParts} has printed. */
export const parseStoredPart = (text: string): ImportRecord[] =>
  (JSON.parse(text) as Stored[]).map(([line, text, ...failure]) => {
    const [message, details] = failure
    if (message === undefined) return { line, text }
    return { line, failure: new Failure(text as FailureCode, message, details) }
  })
