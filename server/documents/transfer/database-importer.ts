import type { OnConflict } from '../../contract/import.ts'
import type { ImportRecord } from '../../contract/records/import-record.ts'
import { type DatabaseImportResult, EXPORTED_SCHEMA_BYTES } from '../../contract/transfer.ts'
import { Failure, requireConnected } from '../../failure.ts'
import type { OnTargetRecord, Recorder } from '../../storage/changes/recorder.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import type { Store } from '../../storage/store.ts'
import { ImportTally } from '../import/import-tally.ts'
import { explainInterruption, type Importer } from '../import/importer.ts'
import type { PartImport } from '../import/stored-part.ts'
import type { Indexes } from '../indexes/indexes.ts'
import type { CountedAudit, RecordEnd } from '../record-end.ts'
import type { DocumentRepository } from '../repository/stored-documents.ts'
import type { Schemas } from '../schemas/schemas.ts'
import { type CollectionDefinition, parseDatabasePart, readDatabase } from './read-database.ts'

export interface DatabaseImporterDeps {
  readonly store: Pick<Store, 'transaction'>
  readonly record: Recorder
  readonly repository: Pick<DocumentRepository, 'collections'>
  readonly importer: Pick<Importer, 'run' | 'part'>
  readonly schemas: Pick<Schemas, 'put' | 'read'>
  readonly indexes: Pick<Indexes, 'put'>
  readonly recordEnd: Pick<RecordEnd, 'of'>
}

/** A request to import a database. */
export interface DatabaseImport {
  /** Id of the database. */
  readonly database: string
  readonly records: AsyncIterable<readonly ImportRecord[]>
  readonly onConflict: OnConflict
  readonly audit: CountedAudit
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
}

export interface DatabaseImporter {
  /** @throws Failure `conflict` if the database contains documents. */
  requireEmpty(database: { readonly id: string; readonly name: string }): Promise<void>
  /**
   * Stores the collections of an export with their documents, then their schemas and indexes.
   *
   * @throws Failure `invalid` if the body is not a complete export. Documents that were stored until
   * then are kept.
   */
  run(request: DatabaseImport): Promise<DatabaseImportResult>
  /** Stores a part of an export (`storedDatabase`) whose progress is stored with it. */
  readonly part: ImportDatabasePart
}

/** Imports a part of a database for a job. */
export type ImportDatabasePart = (
  database: string,
  text: string,
  state: PartImport,
  audit: CountedAudit,
) => Promise<void>

/** The result of an import that has not begun. */
const NOTHING: DatabaseImportResult = {
  collections: 0,
  created: 0,
  replaced: 0,
  skipped: 0,
  failed: 0,
  errors: [],
}

export function createDatabaseImporter(deps: DatabaseImporterDeps): DatabaseImporter {
  const { store, record, repository, importer, schemas, indexes, recordEnd } = deps

  /**
   * Sets the schema and creates the indexes of a collection.
   *
   * @throws Failure `busy` if the signal is aborted
   */
  async function define(
    where: CollectionRef,
    { line, schema, indexes: list }: CollectionDefinition,
    { onConflict, signal }: Pick<DatabaseImport, 'onConflict' | 'signal'>,
    { actor, target: database }: CountedAudit,
    tally: ImportTally,
  ): Promise<void> {
    requireConnected(signal)
    if (schema !== null) {
      const target = `${database}/${where.collection}`
      const on = { record, actor, target }
      await attempt(tally, line, '/schema', () => putSchema(where, schema, onConflict, on))
    }
    for (const [at, { name, fields, unique }] of list.entries()) {
      requireConnected(signal)
      const target = `${database}/${where.collection}/${name}`
      await attempt(tally, line, `/indexes/${at}`, async () => {
        await indexes.put(where, name, { fields, unique }, { record, actor, target })
      })
    }
  }

  async function putSchema(
    where: CollectionRef,
    schema: object | boolean,
    onConflict: OnConflict,
    on: OnTargetRecord,
  ): Promise<void> {
    const text = JSON.stringify(schema)
    if (Buffer.byteLength(text) > EXPORTED_SCHEMA_BYTES) throw schemaTooLarge()
    const noneMatch = onConflict === 'replace' ? undefined : '*'
    try {
      await schemas.put(where, text, { match: undefined, noneMatch }, on)
    } catch (error) {
      const exists = error instanceof Failure && error.code === 'precondition-failed'
      if (!exists) throw error
      if (onConflict === 'skip') return
      const { body } = await schemas.read(where, { match: undefined, noneMatch: undefined })
      // A job that was interrupted has set it already.
      if (body === text) return
      throw new Failure('conflict', 'The collection already has a different schema.')
    }
  }

  return {
    async requireEmpty({ id, name }) {
      const [collection] = await repository.collections(id)
      if (collection !== undefined) throw notEmpty(name, collection)
    },

    async run(request) {
      const { database, records, onConflict, audit, signal } = request
      const tally = new ImportTally()
      let collections = 0
      const resultSoFar = () => ({ collections, ...tally.result })
      return recordEnd.of(audit, resultSoFar, async () => {
        for await (const { definition, documents } of withStoredCount(
          readDatabase(records),
          tally,
        )) {
          const where = { database, collection: definition.collection }
          collections++
          await importer.run(where, documents, onConflict, signal, tally)
          // After the documents: a schema applies to later changes, and a build is faster than
          // inserts.
          try {
            await define(where, definition, request, audit, tally)
          } catch (error) {
            throw explainInterruption(error, tally.result)
          }
        }
        return resultSoFar()
      })
    },

    async part(database, text, state, audit) {
      const { collection, content } = parseDatabasePart(text)
      const where = { database, collection }
      const before = { ...NOTHING, ...state.result }
      if (typeof content === 'string') {
        await importer.part(where, content, {
          ...state,
          commit: (trx, progress) =>
            state.commit(trx, {
              ...progress,
              result: { ...progress.result, collections: before.collections },
            }),
        })
        return
      }
      const tally = new ImportTally(before)
      await define(where, content, state, audit, tally)
      const result = { collections: before.collections + 1, ...tally.result }
      await store.transaction((trx) => state.commit(trx, { line: undefined, result, done: 0 }))
    },
  }
}

/** Adds to the failures of an export how many documents are stored. */
async function* withStoredCount<T>(source: AsyncGenerator<T, void>, tally: ImportTally) {
  try {
    yield* source
  } catch (error) {
    throw explainInterruption(error, tally.result)
  }
}

/** Lists the failure of a schema or an index as an error of its line. */
async function attempt(
  tally: ImportTally,
  line: number,
  pointer: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof Failure) || !isListed(error)) throw error
    tally.list({ line, pointer, message: error.message })
  }
}

/** Whether an import continues after an error of a definition: not if its caller has lost access. */
const isListed = ({ code, kind }: Failure) =>
  kind.status < 500 && code !== 'unauthenticated' && code !== 'forbidden'

const schemaTooLarge = () =>
  new Failure('too-large', `The schema is larger than ${EXPORTED_SCHEMA_BYTES / 1024} KiB.`)

const notEmpty = (database: string, collection: string) =>
  new Failure(
    'conflict',
    `The database ${database} contains documents, such as those of ${collection}. ` +
      'Import into an empty database, or add on-conflict=skip or on-conflict=replace.',
    { field: 'on-conflict' },
  )
