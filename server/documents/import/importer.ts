import type { ImportResult, OnConflict } from '../../contract/import.ts'
import { Failure } from '../../failure.ts'
import { Semaphore } from '../../storage/changes/semaphore.ts'
import { createTurns } from '../../storage/changes/turns.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import { type MadeDocument, toDocument } from '../document.ts'
import { parseStrictly } from '../json/strict-json.ts'
import { exists } from '../repository/create-many.ts'
import type { DocumentRepository } from '../repository/stored-documents.ts'
import type { Written } from '../repository/write-documents.ts'
import type { CheckDocuments } from '../schemas/schemas.ts'
import { ImportTally } from './import-tally.ts'
import type { ImportRecord } from './read-records.ts'
import { type ImportedDocument, validate } from './validate.ts'

/** Maximum number of documents that a transaction of an import writes. */
const TRANSACTION = 1_000

/** Size after which a batch is written although it has fewer documents, in characters. */
const BATCH_SIZE = 1024 * 1024

export interface Importer {
  /**
   * Stores records one after the other, in transactions of bounded size and time. A record that
   * cannot be stored does not affect the others.
   *
   * @param signal aborted when the client disconnects. The import then ends after the current
   * transaction.
   * @throws Failure of a record's source or the store. Its message names how many documents are
   * stored.
   */
  run(
    where: CollectionRef,
    records: AsyncIterable<readonly ImportRecord[]>,
    onConflict: OnConflict,
    signal: AbortSignal,
  ): Promise<ImportResult>
}

export interface ImporterDeps {
  readonly repository: Pick<DocumentRepository, 'write'>
  readonly now: () => number
  readonly check: CheckDocuments
}

export function createImporter({ repository, now, check }: ImporterDeps): Importer {
  const nextTurn = createTurns()
  // Other writers wait for at most one transaction of imports, however many imports there are.
  const transactions = new Semaphore(1)

  /** Writes valid documents and counts what was done with them. */
  async function write(
    where: CollectionRef,
    documents: readonly ImportedDocument[],
    onConflict: OnConflict,
    tally: ImportTally,
    signal: AbortSignal,
  ): Promise<void> {
    for (let at = 0; at < documents.length; ) {
      signal.throwIfAborted()
      await transactions.enter(() => signal)
      try {
        const next = documents.slice(at, at + TRANSACTION)
        const written = await repository.write(where, next, onConflict === 'replace')
        for (const [index, outcome] of written.entries()) {
          count(tally, next[index] as ImportedDocument, outcome, onConflict)
        }
        at += written.length
      } finally {
        transactions.leave()
      }
      await nextTurn()
    }
  }

  return {
    async run(where, records, onConflict, signal) {
      const tally = new ImportTally()
      let batch: ImportedDocument[] = []
      let size = 0
      const end = async () => {
        const valid = await validate(check, where, batch, tally)
        await write(where, valid, onConflict, tally, signal)
        tally.endBatch()
        batch = []
        size = 0
      }
      try {
        for await (const part of records) {
          await nextTurn()
          const made = toDocuments(part, now, tally)
          for (const { body } of made) size += body.length
          batch.push(...made)
          if (batch.length + part.length > TRANSACTION || size > BATCH_SIZE) await end()
        }
        await end()
        return tally.result
      } catch (error) {
        throw error instanceof Failure ? interrupted(error, tally.result) : error
      }
    },
  }
}

/** Parses records. Those that are not documents count as failed. */
function toDocuments(
  part: readonly ImportRecord[],
  now: () => number,
  tally: ImportTally,
): ImportedDocument[] {
  const made: ImportedDocument[] = []
  for (const record of part) {
    const { line } = record
    const document = 'failure' in record ? record.failure : parse(record.text, now)
    if (document instanceof Failure) tally.fail(line, document)
    else made.push({ line, id: document.id, body: document.body })
  }
  return made
}

function parse(text: string, now: () => number): MadeDocument | Failure {
  try {
    return toDocument(parseStrictly(text), undefined, now)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return error.code === 'bad-json' ? NOT_JSON : error
  }
}

const NOT_JSON = new Failure('bad-json', 'The line is not JSON.')

function count(
  tally: ImportTally,
  { line, id }: ImportedDocument,
  written: Written,
  onConflict: OnConflict,
): void {
  if (written === 'created') tally.created++
  else if (written === 'replaced') tally.replaced++
  else if (written !== 'exists') tally.fail(line, written)
  else if (onConflict === 'skip') tally.skipped++
  else tally.fail(line, exists(id))
}

/** Returns the failure of an import that has stored some documents. */
function interrupted(failure: Failure, { created, replaced }: ImportResult): Failure {
  const { code, message, cause, headers, details } = failure
  const stored = (created + replaced).toLocaleString('en')
  const text = `${message} The import has ended; ${stored} documents are stored.`
  return new Failure(code, text, { ...details, cause, headers })
}
