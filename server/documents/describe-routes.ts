// The OpenAPI description of all routes of documents and schemas, in one file because they share
// headers and responses.

import { importResponse } from '../contract/import.ts'
import { schemaOf } from '../http/openapi/openapi.ts'
import type { Described, Operation } from '../http/openapi/openapi-objects.ts'
import { SKIPPED_HEADER } from './damage-log.ts'
import { failure, header, json, parameter, ref } from './describe-components.ts'

const TAG = header('Identifies the returned state, for If-Match and If-None-Match.')
const JOB = header('The path of the job.')

const DOCUMENT = json(ref('schemas/Document'))
const STORED = [ref('schemas/Document'), { type: 'array', items: ref('schemas/Document') }]
const DOCUMENTS = json({ type: 'array', items: ref('schemas/Document') })
const PATCH = { type: 'object' as const, additionalProperties: true }
const MERGE_PATCH = {
  ...json(PATCH),
  'application/merge-patch+json': { schema: PATCH },
}
const JSON_SCHEMA = json({
  type: ['object', 'boolean'],
  description: 'A JSON Schema, draft 2020-12.',
  additionalProperties: true,
})

const one = { description: 'The document', headers: { ETag: TAG }, content: DOCUMENT }
const LINK = header('The URL of the next page (RFC 8288), if there is one.')
const PAGE_HEADERS = {
  ETag: TAG,
  Link: LINK,
  'Query-Plan': header(
    'What a query with a filter, or with a sort by other fields than id, read: ' +
      'scan; scanned=9; returned=3, or index=by-year; ….',
  ),
  'X-Total-Count': {
    description: 'The number of documents that match, for Prefer: count=exact.',
    schema: { type: 'integer' },
  },
  [SKIPPED_HEADER]: {
    description: 'The number of damaged documents that were left out, if there are any.',
    schema: { type: 'integer' },
  },
  'Preference-Applied': header('count=exact, if the documents were counted.'),
}
const page = {
  description: 'A page of the collection, by default in order of the ids',
  headers: {
    ...PAGE_HEADERS,
    'Content-Disposition': header('The file name of an export.'),
  },
  content: {
    ...DOCUMENTS,
    'application/x-ndjson': {
      schema: { type: 'string', description: 'Every document that matches, one per line.' },
    },
    'text/csv': {
      schema: { type: 'string', description: 'Every document that matches (RFC 4180).' },
    },
  },
}
const started = (description: string, content: object, headers: Described = {}) => ({
  description,
  headers: { ...headers, Location: JOB, 'Preference-Applied': header('respond-async') },
  content,
})
export const notModified = (headers: Described = {}) => ({
  description: 'The state matches If-None-Match.',
  headers,
})
const NOT_MODIFIED = notModified({ ETag: TAG })
export const NO_CONTENT = {
  description: 'The change was made; for Prefer: return=minimal.',
  headers: { 'Preference-Applied': header('return=minimal') },
}
export const JOB_STARTED = started(
  'The job has started.',
  json({
    type: 'object',
    required: ['id', 'state'],
    properties: { id: { type: 'string' }, state: { const: 'running' } },
  }),
)

export const body = (content: object, description: string) => ({
  required: true,
  description,
  content,
})

const counted = (name: string) => ({
  description: 'The number of documents',
  content: json({ type: 'object', required: [name], properties: { [name]: { type: 'integer' } } }),
})

const CONDITIONS = [parameter('IfMatch'), parameter('IfNoneMatch')]
export const CONDITIONS_WITHOUT_TAG = [parameter('IfMatchAny'), parameter('IfNoneMatchAny')]

/** Adds the parameters of a path to each of its operations. */
export function operations<Method extends string>(
  path: readonly Described[],
  item: Readonly<Record<Method, Operation>>,
): Readonly<Record<Method, Operation>> {
  const result: Record<Method, Operation> = { ...item }
  for (const method of Object.keys(item) as Method[]) {
    const { parameters = [] } = item[method]
    result[method] = { ...item[method], parameters: [...path, ...parameters] }
  }
  return result
}

/** The operations of `/<collection>`. */
export const collection = operations([parameter('Collection')], {
  get: {
    summary: 'List documents',
    parameters: [
      parameter('Filters'),
      parameter('Limit'),
      parameter('After'),
      parameter('Sort'),
      parameter('Cursor'),
      parameter('Fields'),
      parameter('ExportAs'),
      parameter('CsvSeparator'),
      parameter('CsvCells'),
      parameter('AcceptExport'),
      parameter('IfMatch'),
      parameter('IfNoneMatch'),
      parameter('Prefer'),
    ],
    responses: {
      '200': page,
      '206': started('The first part; a job examines the rest.', DOCUMENTS, {
        ETag: TAG,
        Link: LINK,
      }),
      '304': notModified(PAGE_HEADERS),
      '406': failure('NotAcceptable'),
      '412': failure('PreconditionFailed'),
      '422': failure('QueryTooExpensive'),
      '507': failure('StorageFull'),
    },
  },
  post: {
    summary: 'Create a document or all documents of an array, or import documents',
    description:
      'NDJSON and CSV are imports: documents are stored one after the other while they arrive. ' +
      'With on-conflict=replace or skip, JSON may contain documents that exist.',
    parameters: [
      parameter('OnConflict'),
      parameter('CsvSeparator'),
      parameter('CsvTypes'),
      parameter('Accept'),
      parameter('Prefer'),
      parameter('IfMatchAny'),
    ],
    requestBody: body(
      {
        ...json({
          oneOf: [ref('schemas/NewDocument'), { type: 'array', items: ref('schemas/NewDocument') }],
        }),
        'application/x-ndjson': { schema: { type: 'string' } },
        'text/csv': { schema: { type: 'string' } },
      },
      'A JSON object, an array of objects, or lines to import. Missing ids are generated.',
    ),
    responses: {
      '200': {
        description:
          'The result of an import; or the stored documents, of which some existed before.',
        headers: {
          ETag: header('As with 201, unless a document of an array was skipped.'),
          'Preference-Applied': header('return=representation, for an import'),
        },
        content: {
          'application/json': {
            get schema() {
              return { anyOf: [schemaOf(importResponse), ...STORED] }
            },
          },
        },
      },
      '201': {
        description: 'The stored document',
        headers: { ETag: TAG, Location: header('The path of the document, if it is one.') },
        content: json({ oneOf: STORED }),
      },
      '202': JOB_STARTED,
      '406': failure('NotAcceptable'),
      '409': failure('Conflict'),
      '412': failure('PreconditionFailed'),
    },
  },
  patch: {
    summary: 'Merge a patch into every document that matches the filter',
    description:
      'All or nothing; a job if more than 10,000 rows or 4 MiB change. Parameters of pages are rejected.',
    parameters: [
      parameter('Filters'),
      parameter('Accept'),
      parameter('Prefer'),
      parameter('IfMatchAny'),
    ],
    requestBody: body(MERGE_PATCH, 'A JSON merge patch (RFC 7396).'),
    responses: {
      '200': counted('changed'),
      '202': JOB_STARTED,
      '204': NO_CONTENT,
      '406': failure('NotAcceptable'),
      '409': failure('Conflict'),
      '412': failure('PreconditionFailed'),
    },
  },
  delete: {
    summary: 'Delete every document that matches the filter',
    description:
      'All or nothing; a job if more than 10,000 rows or 4 MiB change. Parameters of pages are rejected.',
    parameters: [
      parameter('Filters'),
      parameter('Accept'),
      parameter('Prefer'),
      parameter('IfMatchAny'),
    ],
    responses: {
      '200': counted('deleted'),
      '202': JOB_STARTED,
      '204': NO_CONTENT,
      '406': failure('NotAcceptable'),
      '412': failure('PreconditionFailed'),
      '422': failure('QueryTooExpensive'),
    },
  },
})

const changed = (summary: string, content: object, description: string): Operation => ({
  summary,
  parameters: [parameter('Accept'), ...CONDITIONS],
  requestBody: body(content, description),
  responses: {
    '200': one,
    '404': failure('NotFound'),
    '406': failure('NotAcceptable'),
    '409': failure('Conflict'),
    '412': failure('PreconditionFailed'),
  },
})

const replacement = changed(
  'Replace a document',
  json(ref('schemas/NewDocument')),
  'The whole document; the id can be omitted.',
)

/** The operations of `/<collection>/<id>`. */
export const document = operations([parameter('Collection'), parameter('DocumentId')], {
  get: {
    summary: 'Read a document',
    parameters: [parameter('Accept'), ...CONDITIONS],
    responses: {
      '200': one,
      '304': NOT_MODIFIED,
      '404': failure('NotFound'),
      '406': failure('NotAcceptable'),
      '412': failure('PreconditionFailed'),
    },
  },
  put: {
    ...replacement,
    description: 'With If-None-Match: *, creates the document.',
    responses: {
      ...replacement.responses,
      '201': { ...one, headers: { ETag: TAG, Location: header('The path of the document.') } },
    },
  },
  patch: changed('Merge a patch into a document', MERGE_PATCH, 'A JSON merge patch (RFC 7396).'),
  delete: {
    summary: 'Delete a document',
    parameters: [parameter('Accept'), parameter('Prefer'), ...CONDITIONS],
    responses: {
      '200': one,
      '204': NO_CONTENT,
      '404': failure('NotFound'),
      '406': failure('NotAcceptable'),
      '412': failure('PreconditionFailed'),
    },
  },
})

/** The operations of `/_schema/<collection>`. */
export const schema = operations([parameter('Collection')], {
  get: {
    summary: 'Read the JSON Schema of a collection',
    parameters: [parameter('Accept'), ...CONDITIONS],
    responses: {
      '200': { description: 'The schema', headers: { ETag: TAG }, content: JSON_SCHEMA },
      '304': NOT_MODIFIED,
      '404': failure('NotFound'),
      '406': failure('NotAcceptable'),
      '412': failure('PreconditionFailed'),
    },
  },
  put: {
    summary: 'Set the JSON Schema of a collection',
    description: 'Later changes of documents must be valid. Stored documents are not checked.',
    parameters: [parameter('Accept'), ...CONDITIONS],
    requestBody: body(JSON_SCHEMA, 'A JSON Schema, draft 2020-12.'),
    responses: {
      '200': {
        description: 'The schema, which replaces another one',
        headers: { ETag: TAG },
        content: JSON_SCHEMA,
      },
      '201': {
        description: 'The schema of a collection that had none',
        headers: { ETag: TAG },
        content: JSON_SCHEMA,
      },
      '406': failure('NotAcceptable'),
      '412': failure('PreconditionFailed'),
    },
  },
  delete: {
    summary: 'Remove the JSON Schema of a collection',
    parameters: [parameter('Accept'), parameter('Prefer'), ...CONDITIONS],
    responses: {
      '200': {
        description: 'The schema that was removed',
        headers: { ETag: TAG },
        content: JSON_SCHEMA,
      },
      '204': NO_CONTENT,
      '404': failure('NotFound'),
      '406': failure('NotAcceptable'),
      '412': failure('PreconditionFailed'),
    },
  },
})
