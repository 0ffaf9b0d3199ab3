import { type Context, Hono } from 'hono'
import { DOCUMENT_BYTES } from '../../contract/document.ts'
import { WHOLE_DATABASE } from '../../contract/job.ts'
import { databaseImportResult } from '../../contract/transfer.ts'
import { Failure } from '../../failure.ts'
import type { AppEnv } from '../../http/env.ts'
import { audited } from '../../http/guards/audit-change.ts'
import { callerIdOf, callerOf, type RequireRole } from '../../http/guards/require-role.ts'
import { requireUtf8 } from '../../http/input/body/json-body.ts'
import { bodyChunks } from '../../http/input/body/request-body.ts'
import { conditionsOf, isNotModified, requireNoConditions } from '../../http/input/headers.ts'
import { prefersAsync } from '../../http/input/prefer.ts'
import { requireNoParameters, searchParameters } from '../../http/input/url.ts'
import { described } from '../../http/openapi/describe.ts'
import { streamText } from '../../http/output/stream-text.ts'
import { acceptedResponse } from '../collections/whole-collection-routes.ts'
import { failure, jsonOf, parameter } from '../describe-components.ts'
import {
  body,
  CONDITIONS_WITHOUT_TAG,
  JOB_STARTED,
  notModified,
  operations,
} from '../describe-routes.ts'
import type { ExportCollectionDeps } from '../export/export-routes.ts'
import { parseOnConflict, requireKnown } from '../import/import-routes.ts'
import { pacedRecords, readRecords } from '../import/read-records.ts'
import type { BeginImport } from '../import/stored-part.ts'
import type { DatabaseImporter } from './database-importer.ts'
import { readDatabase, storedDatabase } from './read-database.ts'

export interface TransferRoutesDeps extends ExportCollectionDeps {
  readonly databaseImporter: DatabaseImporter
  readonly beginImport: BeginImport
  readonly requireRole: RequireRole
  /** Returns the id of an existing database. */
  readonly idOf: (database: string) => string
}

/** Maximum size of a line of an import: a document with its envelope. */
const LINE_BYTES = DOCUMENT_BYTES + 1024

/** Returns the routes of `/_export` and `/_import`, which transfer a whole database. */
export function transferRoutes(deps: TransferRoutesDeps) {
  const { exporter, onExportError, databaseImporter, beginImport, requireRole, idOf } = deps
  const databaseOf = (c: Context<AppEnv>) => {
    const name = c.get('database')
    return { id: idOf(name), name }
  }
  return new Hono<AppEnv>()
    .get('/_export', described(databaseExport.get, requireRole('viewer')), async (c) => {
      requireNoParameters(c, 'An export of a database')
      const database = databaseOf(c)
      if (isNotModified(c)) return c.body(null, 304)
      const authorizedAt = performance.now()
      const { chunks, deadline } = await exporter.beginDatabase(database, c.req.raw.signal)
      const { value: first } = await chunks.next()
      const body = streamText(c, first ?? '', chunks, {
        authorizedAt,
        deadline,
        onError: onExportError,
      })
      return c.body(body, 200, {
        'Content-Type': 'application/x-ndjson',
        'Content-Disposition': `attachment; filename="${database.name}.ndjson"`,
      })
    })
    .post(
      '/_import',
      audited('database.import', (c) => c.get('database')),
      described(databaseImport.post, requireRole('operator')),
      async (c) => {
        requireNdjson(c.req.header('Content-Type'))
        const parameters = searchParameters(c)
        requireKnown(parameters, ['on-conflict'])
        const onConflict = parseOnConflict(parameters)
        requireNoConditions(conditionsOf(c), 'imports')
        const { id: database, name: target } = databaseOf(c)
        if (!parameters.has('on-conflict')) {
          await databaseImporter.requireEmpty({ id: database, name: target })
        }
        const records = pacedRecords(
          readRecords(bodyChunks(c), 'ndjson', { lineBytes: LINE_BYTES }),
        )
        if (prefersAsync(c)) {
          const audit = { actor: c.get('actor'), action: 'database.import', target } as const
          const where = { database, collection: WHOLE_DATABASE }
          const parts = storedDatabase(readDatabase(records))
          const caller = callerIdOf(c)
          return acceptedResponse(c, await beginImport(where, { onConflict, audit }, parts, caller))
        }
        const { signal } = c.req.raw
        const audit = { actor: callerOf(c), action: 'database.import', target } as const
        const request = { database, records, onConflict, audit, signal }
        return c.json(await databaseImporter.run(request), 200)
      },
    )
}

/** @throws Failure `unsupported-media-type` */
function requireNdjson(type = ''): void {
  if (!/^application\/x-ndjson\s*(?:;|$)/i.test(type)) {
    throw new Failure(
      'unsupported-media-type',
      'The body must be an export of a database, with Content-Type: application/x-ndjson.',
      { field: 'Content-Type' },
    )
  }
  requireUtf8(type)
}

const LINES = {
  'application/x-ndjson': {
    schema: {
      type: 'string' as const,
      description: 'A head, collections with their documents, and an end, one per line.',
    },
  },
}

/** The operation of `/_export`. */
const databaseExport = operations([], {
  get: {
    summary: 'Export a database',
    description: 'All collections with their schemas, indexes and documents, as of one moment.',
    parameters: CONDITIONS_WITHOUT_TAG,
    responses: {
      '200': {
        description: 'The database',
        headers: {
          'Content-Disposition': { description: 'The file name', schema: { type: 'string' } },
        },
        content: LINES,
      },
      '304': notModified(),
      '412': failure('PreconditionFailed'),
    },
  },
})

/** The operation of `/_import`. */
const databaseImport = operations([], {
  post: {
    summary: 'Import an exported database',
    description: 'Without on-conflict, the database must not contain documents.',
    parameters: [parameter('OnConflict'), parameter('Prefer'), parameter('IfMatchAny')],
    requestBody: body(LINES, 'An export of a database.'),
    responses: {
      '200': {
        description: 'What was stored',
        content: jsonOf(databaseImportResult),
      },
      '202': JOB_STARTED,
      '409': failure('Conflict'),
      '412': failure('PreconditionFailed'),
    },
  },
})
