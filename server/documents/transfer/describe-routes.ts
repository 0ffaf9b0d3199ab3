import { databaseImportResult } from '../../contract/transfer.ts'
import { failure, jsonOf, parameter } from '../describe-components.ts'
import {
  body,
  CONDITIONS_WITHOUT_TAG,
  JOB_STARTED,
  notModified,
  operations,
} from '../describe-routes.ts'

const LINES = {
  'application/x-ndjson': {
    schema: {
      type: 'string' as const,
      description: 'A head, collections with their documents, and an end, one per line.',
    },
  },
}

/** The operation of `/_export`. */
export const databaseExport = operations([], {
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
export const databaseImport = operations([], {
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
