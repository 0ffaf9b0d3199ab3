import type { Transaction } from 'kysely'
import { Semaphore } from '../../concurrency/semaphore.ts'
import { nextTurn } from '../../concurrency/turns.ts'
import type { ImportResult, OnConflict } from '../../contract/import.ts'
import { parseAndPrint } from '../../contract/json/strict-json.ts'
import type { ImportRecord } from '../../contract/records/import-record.ts'
import { Failure, requireConnected } from '../../failure.ts'
import { SCHEMA_CHANGES, SchemaChanged } from '../../storage/current-schema.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import type { Tables } from '../../storage/tables.ts'
import { createEntityTag, existsFailure, toDocument } from '../document.ts'
import type { DocumentRepository } from '../repository/stored-documents.ts'
import type { WriteResult } from '../repository/writes/write-documents.ts'
import type { CurrentSchemaOf } from '../schemas/schemas.ts'
import { ImportTally } from './import-tally.ts'
import { type PartImport, parseStoredPart } from './stored-part.ts'
import { type ImportedDocument, validate } from './validate.ts'

/** Maximum number of documents that a transaction of an import writes. */
const TRANSACTION = 1_000

/** Size after which a batch is written although it has fewer documents, in characters. */
const BATCH_SIZE = 1024 * 1024

export interface Importer {
  /**
   * Stores records one after the other, in transactions of bounded size and time. A record that
   * cannot be stored does not affect the others. While a batch is written, the next one is read.
   *
   * @param records yields each part in a separate turn of the event loop (`pacedRecords`).
   * @param signal aborted when the client disconnects. The import then ends after the current
   * transaction.
   * @param tally counts the stored documents, even if the import fails; by default it begins at 0.
   * @throws Failure of a record's source or the store, whose message names how many documents are
   * stored; `busy` if the client has disconnected.
   */
  run(
    where: CollectionRef,
    records: AsyncIterable<readonly ImportRecord[]>,
    onConflict: OnConflict,
    signal: AbortSignal,
    tally?: ImportTally,
  ): Promise<ImportResult>
  /** Stores the records of a part (`stored-part.ts`) whose progress is stored with them. */
  readonly part: ImportPart
}

/** Imports a part for a job. */
export type ImportPart = (where: CollectionRef, text: string, state: PartImport) => Promise<void>

export interface ImporterDeps {
  readonly repository: Pick<DocumentRepository, 'write'>
  readonly now: () => number
  readonly schemaOf: CurrentSchemaOf
}

/** Documents that a schema has validated. */
interface ValidDocuments {
  readonly documents: readonly ImportedDocument[]
  /** The tag of the schema; null if the collection has none. */
  readonly schema: string | null
}

/** Receives the documents that cannot be stored. */
type Rejections = Pick<ImportTally, 'fail'>

/** Documents to write in one transaction. */
interface Batch {
  readonly where: CollectionRef
  readonly valid: ValidDocuments
  /** Receives the documents that a later schema rejects. */
  readonly rejected: Rejections
  readonly onConflict: OnConflict
  readonly signal: AbortSignal
}

/** The outcome of a transaction, which may write only the first documents of a batch. */
interface Written {
  /** The documents that were still valid, in order. */
  readonly documents: readonly ImportedDocument[]
  /** The results of the first documents. */
  readonly written: readonly WriteResult[]
  /** The documents that are not written yet. */
  readonly rest: ValidDocuments
}

export function createImporter({ repository, now, schemaOf }: ImporterDeps): Importer {
  // Other writers wait for at most one transaction of imports, however many imports there are.
  const transactions = new Semaphore(1)

  async function validated(
    where: CollectionRef,
    documents: readonly ImportedDocument[],
    rejected: Rejections,
    signal: AbortSignal,
  ): Promise<ValidDocuments> {
    const { tag, validate: check } = await schemaOf(where)
    return { documents: await validate(check, documents, rejected, signal), schema: tag }
  }

  /**
   * Writes the first documents in one transaction, while no other import has one. Validates them
   * again if the schema has changed.
   *
   * @param commit called at the end of the transaction, with the documents that are still valid.
   * @throws Failure `busy` if the schema keeps changing
   */
  async function write(
    { where, valid, rejected, onConflict, signal }: Batch,
    commit?: (
      trx: Transaction<Tables>,
      documents: readonly ImportedDocument[],
      written: readonly WriteResult[],
    ) => Promise<void>,
  ): Promise<Written> {
    let current = valid
    for (let round = 0; round < SCHEMA_CHANGES; round++) {
      if (round > 0) current = await validated(where, current.documents, rejected, signal)
      const { documents, schema } = current
      await transactions.enter(() => signal)
      try {
        const written = await repository.write(where, documents.slice(0, TRANSACTION), {
          replaces: onConflict === 'replace',
          schema,
          ...(commit && { commit: (trx, some) => commit(trx, documents, some) }),
        })
        return { documents, written, rest: { documents: documents.slice(written.length), schema } }
      } catch (error) {
        if (!(error instanceof SchemaChanged)) throw error
      } finally {
        transactions.leave()
      }
    }
    throw new Failure('busy', 'The schema of the collection keeps changing.')
  }

  async function writeBatch(batch: Batch, tally: ImportTally): Promise<void> {
    for (let { valid } = batch; valid.documents.length > 0; ) {
      batch.signal.throwIfAborted()
      const { documents, written, rest } = await write({ ...batch, valid })
      count(tally, documents, written, batch.onConflict)
      valid = rest
      await nextTurn()
    }
  }

  return {
    async run(where, records, onConflict, signal, tally = new ImportTally()) {
      let batch: ImportedDocument[] = []
      let rejected = new ImportTally()
      let size = 0
      /** The batch that is written while the next one is read. */
      let writing = Promise.resolve()
      const begin = async () => {
        const [documents, rejections] = [batch, rejected]
        batch = []
        rejected = new ImportTally()
        size = 0
        await writing
        writing = end(documents, rejections)
        // An error is thrown when it is awaited: before the next batch, or at the end.
        writing.catch(() => {})
      }
      const end = async (documents: readonly ImportedDocument[], rejections: ImportTally) => {
        const valid = await validated(where, documents, rejections, signal)
        await writeBatch({ where, valid, rejected: rejections, onConflict, signal }, tally)
        tally.add(rejections)
        tally.endBatch()
      }
      try {
        for await (const part of records) {
          const documents = toDocuments(part, now, rejected)
          for (const { body } of documents) size += body.length
          batch.push(...documents)
          if (batch.length + part.length > TRANSACTION || size > BATCH_SIZE) await begin()
        }
        await begin()
        await writing
        return tally.result
      } catch (error) {
        // The error states how many documents are stored.
        await writing.catch(() => {})
        requireConnected(signal)
        throw explainInterruption(error, tally.result)
      }
    },
    async part(where, text, { onConflict, line: begin, result, commit, signal }) {
      // The results of earlier records are stored already, even if the schema has changed since.
      const records = parseStoredPart(text).filter(({ line }) => line > begin)
      const failures: { readonly line: number; readonly failure: Failure }[] = []
      const rejected: Rejections = { fail: (line, failure) => failures.push({ line, failure }) }
      const documents = toDocuments(records, now, rejected)
      let valid = await validated(where, documents, rejected, signal)
      const tally = new ImportTally(result ?? undefined)
      let committed = begin
      do {
        const batch = { where, valid, rejected, onConflict, signal }
        const { rest } = await write(batch, async (trx, documents, some) => {
          count(tally, documents, some, onConflict)
          const isEnd = some.length === documents.length
          const line = isEnd ? undefined : documents[some.length - 1]?.line
          const last = line ?? Number.POSITIVE_INFINITY
          const isLatest = (each: { readonly line: number }) =>
            each.line > committed && each.line <= last
          for (const each of failures.filter(isLatest)) tally.fail(each.line, each.failure)
          tally.endBatch()
          const done = records.filter(isLatest).length
          committed = last
          await commit(trx, { line, result: tally.result, done })
        })
        valid = rest
        await nextTurn()
      } while (valid.documents.length > 0)
    },
  }
}

/** Parses records. Those that are not documents are rejected. */
function toDocuments(
  part: readonly ImportRecord[],
  now: () => number,
  rejected: Rejections,
): ImportedDocument[] {
  const documents: ImportedDocument[] = []
  for (const record of part) {
    const { line } = record
    if ('failure' in record) {
      rejected.fail(line, record.failure)
      continue
    }
    try {
      const { value, printed } = parseAndPrint(record.text)
      const document = toDocument(value, undefined, now, printed)
      documents.push({ line, tag: createEntityTag(), ...document })
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      rejected.fail(line, error.code === 'bad-json' ? NOT_JSON : error)
    }
  }
  return documents
}

const NOT_JSON = new Failure('bad-json', 'This is not JSON.')

/** Counts the results of the first documents. */
function count(
  tally: ImportTally,
  documents: readonly ImportedDocument[],
  written: readonly WriteResult[],
  onConflict: OnConflict,
): void {
  for (const [at, outcome] of written.entries()) {
    const document = documents[at] as ImportedDocument
    const { line, id } = document
    if (outcome === 'created') tally.create(document)
    else if (outcome === 'replaced') tally.replaced++
    else if (outcome !== 'exists') tally.fail(line, outcome)
    else if (onConflict === 'skip') tally.skipped++
    else tally.fail(line, existsFailure(id))
  }
}

/**
 * Adds the number of stored documents to the failure of an import. Other errors are returned
 * unchanged.
 */
export function explainInterruption(error: unknown, { created, replaced }: ImportResult): unknown {
  if (!(error instanceof Failure)) return error
  const { message } = error
  const stored = created + replaced
  const sentence = message.endsWith('.') ? message : `${message}.`
  const kept =
    stored === 0
      ? 'Nothing was imported.'
      : `The import has ended; ${stored.toLocaleString('en')} ${stored === 1 ? 'document is' : 'documents are'} stored.`
  return error.with({ message: `${sentence} ${kept}`, stored })
}
