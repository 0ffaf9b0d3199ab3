import type { Actor } from '../../contract/audit.ts'
import { isCollectionName } from '../../contract/document.ts'
import { IMPORT_ERRORS, type ImportResult, type OnConflict } from '../../contract/import.ts'
import {
  type DatabaseImportResult,
  EXPORT_VERSION,
  exportEnd,
  exportedCollection,
  exportHead,
} from '../../contract/transfer.ts'
import { Failure } from '../../failure.ts'
import type { Recorder } from '../../storage/changes/recorder.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import type { Store } from '../../storage/open.ts'
import type { Importer } from '../import/importer.ts'
import type { ImportRecord } from '../import/read-records.ts'
import type { Indexes } from '../indexes/indexes.ts'
import type { DocumentRepository } from '../repository/stored-documents.ts'
import type { Schemas } from '../schemas/schemas.ts'
import { DatabaseLines } from './database-lines.ts'

export interface DatabaseImporterDeps {
  readonly store: Pick<Store, 'change'>
  readonly record: Recorder
  readonly repository: Pick<DocumentRepository, 'collections'>
  readonly importer: Pick<Importer, 'run'>
  readonly schemas: Pick<Schemas, 'put'>
  readonly indexes: Pick<Indexes, 'put'>
}

/** A request to import a database. */
export interface DatabaseImport {
  readonly database: { readonly id: string; readonly name: string }
  readonly records: AsyncIterable<readonly ImportRecord[]>
  /** Undefined if the database must not contain documents. */
  readonly onConflict: OnConflict | undefined
  readonly actor: Actor
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
}

export interface DatabaseImporter {
  /**
   * Stores the collections of an export with their documents, then their schemas and indexes.
   *
   * @throws Failure `conflict` if the database contains documents; `invalid` if the body is not a
   * complete export. Documents that were stored until then are kept.
   */
  run(request: DatabaseImport): Promise<DatabaseImportResult>
}

export function createDatabaseImporter(deps: DatabaseImporterDeps): DatabaseImporter {
  const { store, record, repository, importer, schemas, indexes } = deps

  async function importCollection(
    value: unknown,
    lines: DatabaseLines,
    { database, onConflict = 'fail', actor, signal }: DatabaseImport,
    result: DatabaseImportResult,
  ): Promise<void> {
    const { last: line } = lines
    const parsed = exportedCollection.safeParse(value)
    if (!parsed.success || !isCollectionName(parsed.data.collection)) throw misplaced(line)
    const { collection, schema, indexes: list } = parsed.data
    const where = { database: database.id, collection }
    result.collections++
    add(result, await importer.run(where, lines.nextDocuments(), onConflict, signal))
    // After the documents: a schema applies to later changes, and a build is faster than inserts.
    if (schema !== null) {
      await attempt(result, line, '/schema', () => putSchema(where, schema, onConflict))
    }
    for (const [at, { name, fields, unique }] of list.entries()) {
      const target = `${database.name}/${collection}/${name}`
      await attempt(result, line, `/indexes/${at}`, async () => {
        await indexes.put(where, name, { fields, unique }, { record, actor, target })
      })
    }
  }

  async function putSchema(
    where: CollectionRef,
    schema: object,
    onConflict: OnConflict,
  ): Promise<void> {
    const noneMatch = onConflict === 'replace' ? undefined : '*'
    try {
      await schemas.put(where, JSON.stringify(schema), { match: undefined, noneMatch })
    } catch (error) {
      const exists = error instanceof Failure && error.code === 'precondition-failed'
      if (!exists) throw error
      if (onConflict === 'skip') return
      throw new Failure('conflict', 'The collection has a schema already.')
    }
  }

  async function importAll(
    request: DatabaseImport,
    lines: DatabaseLines,
    result: DatabaseImportResult,
  ): Promise<void> {
    requireHead(await lines.next())
    for (;;) {
      const value = await lines.next()
      if (value === undefined) throw incomplete(result)
      const end = exportEnd.safeParse(value)
      if (!end.success) {
        await importCollection(value, lines, request, result)
        continue
      }
      const { collections, documents } = end.data.end
      if (collections !== result.collections || documents !== lines.documents) {
        throw incomplete(result)
      }
      if ((await lines.next()) !== undefined) throw misplaced(lines.last)
      return
    }
  }

  return {
    async run(request) {
      const { database, onConflict, actor } = request
      if (onConflict === undefined) {
        const [collection] = await repository.collections(database.id)
        if (collection !== undefined) throw notEmpty(database.name, collection)
      }
      const lines = new DatabaseLines(request.records)
      const result: DatabaseImportResult = {
        ...{ collections: 0, created: 0, replaced: 0, skipped: 0, failed: 0, errors: [] },
      }
      let isComplete = false
      try {
        await importAll(request, lines, result)
        isComplete = true
        return result
      } finally {
        await lines.close()
        const { errors: _, ...counts } = result
        await store.change((trx) =>
          record(trx, {
            ...{ actor, action: 'database.import', target: database.name, outcome: 'done' },
            ...{ before: null, after: { ...counts, complete: isComplete } },
          }),
        )
      }
    },
  }
}

function requireHead(value: unknown): void {
  const head = exportHead.safeParse(value)
  if (!head.success) {
    throw new Failure('invalid', 'The body is not an export of a database.', { field: '' })
  }
  if (head.data.gatehouse === EXPORT_VERSION) return
  throw new Failure(
    'invalid',
    `The export has version ${head.data.gatehouse} of its format. This server reads version ${EXPORT_VERSION}.`,
    { field: '/gatehouse' },
  )
}

/** Adds the result of a collection. */
function add(total: DatabaseImportResult, part: ImportResult): void {
  for (const name of ['created', 'replaced', 'skipped', 'failed'] as const)
    total[name] += part[name]
  total.errors = [...total.errors, ...part.errors].slice(0, IMPORT_ERRORS)
}

/** Lists the failure of a schema or an index as an error of its line. */
async function attempt(
  result: DatabaseImportResult,
  line: number,
  pointer: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof Failure) || error.kind.status >= 500) throw error
    if (result.errors.length >= IMPORT_ERRORS) return
    result.errors = [...result.errors, { line, pointer, message: error.message }]
  }
}

const misplaced = (line: number) =>
  new Failure('invalid', `Line ${line} is not part of an export of a database.`)

const incomplete = ({ created, replaced }: DatabaseImportResult) =>
  new Failure(
    'invalid',
    'The export is incomplete: its end is missing, or does not match. ' +
      `${(created + replaced).toLocaleString('en')} documents are stored.`,
  )

const notEmpty = (database: string, collection: string) =>
  new Failure(
    'conflict',
    `The database ${database} contains documents, such as those of ${collection}. ` +
      'Import into an empty database, or add on-conflict=skip or on-conflict=replace.',
    { field: 'on-conflict' },
  )
