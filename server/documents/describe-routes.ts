// The OpenAPI description of all routes of documents and schemas, in one file because they share
// parameters, headers and responses.

import { ID_LENGTH, PAGE } from '../contract/document.ts'
import { importResult, ON_CONFLICT } from '../contract/import.ts'
import { type Components, type Described, type Operation, schemaOf } from '../http/openapi.ts'
import { OPERATORS } from './query/filter.ts'
import { EXPORT_FORMATS } from './query/query.ts'

const ref = (path: string) => ({ $ref: `#/components/${path}` })
export const parameter = (name: string) => ref(`parameters/${name}`)
export const failure = (name: string) => ref(`responses/${name}`)

const header = (description: string) => ({ description, schema: { type: 'string' as const } })
const TAG = header('Identifies the returned state, for If-Match and If-None-Match.')
const JOB = header('The path of the job.')

export const json = (schema: object) => ({ 'application/json': { schema } })
const DOCUMENT = json(ref('schemas/Document'))
const DOCUMENTS = json({ type: 'array', items: ref('schemas/Document') })
const JSON_SCHEMA = json({ type: 'object', description: 'A JSON Schema, draft 2020-12.' })

const one = { description: 'The document', headers: { ETag: TAG }, content: DOCUMENT }
const LINK = header('The URL of the next page (RFC 8288), if there is one.')
const PAGE_HEADERS = {
  ETag: TAG,
  Link: LINK,
  'Query-Plan': header(
    'What a filtered or sorted query read: scan; scanned=9; returned=3, or index=by-year; ….',
  ),
  'X-Total-Count': {
    description: 'The number of documents that match, for Prefer: count=exact.',
    schema: { type: 'integer' },
  },
  'Preference-Applied': header('count=exact, if the documents were counted.'),
}
const page = {
  description: 'A page of the collection, by default in order of the ids',
  headers: {
    ...PAGE_HEADERS,
    'Content-Disposition': header('The file name of an export.'),
    Vary: header('Accept, for an export.'),
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
const notModified = (headers: Described) => ({
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

const CHANGED_STATES = {
  '412': failure('PreconditionFailed'),
  '422': failure('Invalid'),
}
const WRITE_RESPONSES = {
  ...CHANGED_STATES,
  '413': failure('TooLarge'),
  '507': failure('StorageFull'),
}

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
      parameter('CsvCells'),
      parameter('AcceptExport'),
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
      '422': failure('QueryTooExpensive'),
    },
  },
  post: {
    summary: 'Create a document or all documents of an array, or import documents',
    description:
      'NDJSON and CSV are imports: documents are stored one after the other while they arrive.',
    parameters: [
      parameter('OnConflict'),
      parameter('ContentEncoding'),
      parameter('Accept'),
      parameter('Prefer'),
    ],
    requestBody: body(
      {
        ...json({
          oneOf: [ref('schemas/Document'), { type: 'array', items: ref('schemas/Document') }],
        }),
        'application/x-ndjson': { schema: { type: 'string' } },
        'text/csv': { schema: { type: 'string' } },
      },
      'A JSON object, an array of objects, or lines to import. Missing ids are generated.',
    ),
    responses: {
      '200': {
        description: 'The import has ended.',
        content: json(schemaOf(importResult)),
      },
      '201': {
        description: 'The stored document',
        headers: { ETag: TAG, Location: header('The path of the document, if it is one.') },
        content: json({
          oneOf: [ref('schemas/Document'), { type: 'array', items: ref('schemas/Document') }],
        }),
      },
      '202': JOB_STARTED,
      '406': failure('NotAcceptable'),
      '409': failure('Conflict'),
      ...WRITE_RESPONSES,
    },
  },
  patch: {
    summary: 'Merge a patch into every document that matches the filter',
    description: 'All or nothing. Parameters of pages are rejected.',
    parameters: [
      parameter('Filters'),
      parameter('ContentEncoding'),
      parameter('Accept'),
      parameter('Prefer'),
      parameter('IfMatchAny'),
    ],
    requestBody: body(json({ type: 'object' }), 'A JSON merge patch (RFC 7396).'),
    responses: {
      '200': counted('changed'),
      '202': JOB_STARTED,
      '204': NO_CONTENT,
      '406': failure('NotAcceptable'),
      '409': failure('Conflict'),
      ...WRITE_RESPONSES,
    },
  },
  delete: {
    summary: 'Delete every document that matches the filter',
    description: 'All or nothing. Parameters of pages are rejected.',
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

const changed = (summary: string, description: string): Operation => ({
  summary,
  parameters: [parameter('ContentEncoding'), parameter('Accept'), ...CONDITIONS],
  requestBody: body(json({ type: 'object' }), description),
  responses: {
    '200': one,
    '404': failure('NotFound'),
    '406': failure('NotAcceptable'),
    '409': failure('Conflict'),
    ...WRITE_RESPONSES,
  },
})

const replacement = changed('Replace a document', 'The whole document; the id can be omitted.')

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
  patch: changed('Merge a patch into a document', 'A JSON merge patch (RFC 7396).'),
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
    parameters: [parameter('ContentEncoding'), parameter('Accept'), ...CONDITIONS],
    requestBody: body(JSON_SCHEMA, 'A JSON Schema, draft 2020-12.'),
    responses: {
      '200': { description: 'The schema', headers: { ETag: TAG }, content: JSON_SCHEMA },
      '406': failure('NotAcceptable'),
      ...WRITE_RESPONSES,
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

const RETRY_AFTER = {
  'Retry-After': {
    description: 'Seconds after which to try again.',
    schema: { type: 'integer' },
  },
}

const error = (description: string, headers: Described = {}): Described => ({
  description,
  headers,
  content: json(ref('schemas/ErrorBody')),
})

/** Components of the operations of documents, schemas and jobs, in addition to shared schemas. */
export const documentComponents: Components = {
  schemas: {
    Document: {
      type: 'object',
      required: ['id'],
      properties: { id: { type: 'string', minLength: 1, maxLength: ID_LENGTH } },
      additionalProperties: true,
    },
  },
  responses: {
    BadRequest: error('The request is malformed, or has a parameter that is not supported.'),
    Unauthorized: error('The request has no valid credentials.', {
      'WWW-Authenticate': header('The scheme of the credentials (RFC 9110 §11.6.1).'),
    }),
    Forbidden: error('The role or the scope of the credentials does not permit this.'),
    NotFound: error('There is no such document, collection or database.'),
    NotAcceptable: error('The version in Accept is unknown.'),
    Conflict: error(
      'A document with this id exists, or a unique index contains a document with the same values.',
    ),
    IndexConflict: error('The index has another definition, or there are too many.'),
    PreconditionFailed: error('The precondition in If-Match or If-None-Match failed.'),
    Misdirected: error('A session cookie was sent to a host name of another server.'),
    TooLarge: error('The body is larger than allowed.'),
    UnsupportedMediaType: error('The body has an unsupported type or coding.', {
      'Accept-Encoding': header('gzip, if the coding is unsupported.'),
    }),
    QueryTooExpensive: error('The query reads too many documents.'),
    Invalid: error('The document is invalid.'),
    TooManyRequests: error('A rate limit is exceeded.', RETRY_AFTER),
    Unavailable: error('The database is unavailable, or the node is busy.', RETRY_AFTER),
    StorageFull: error('The disk is full.'),
  },
  parameters: {
    Collection: {
      name: 'collection',
      in: 'path',
      required: true,
      schema: { type: 'string', pattern: '^[a-z][a-z0-9_-]{0,63}$' },
    },
    DocumentId: {
      name: 'id',
      in: 'path',
      required: true,
      description: 'Percent-encoded.',
      schema: { type: 'string', minLength: 1, maxLength: ID_LENGTH },
    },
    IndexName: {
      name: 'name',
      in: 'path',
      required: true,
      schema: { type: 'string', pattern: '^[a-z][a-z0-9_-]{0,63}$' },
    },
    Filters: {
      name: 'filters',
      in: 'query',
      description:
        'Each property is a parameter of its own: `?author.name=ada` finds documents whose field ' +
        'name in author is the string "ada", or whose value has that JSON text. `?year:gte=2000` ' +
        `compares by an operator: ${OPERATORS.join(', ')}. All filters must match.`,
      style: 'form',
      explode: true,
      schema: { type: 'object', additionalProperties: { type: 'string' } },
      example: { 'author.name': 'ada', 'year:gte': '2000' },
    },
    Limit: {
      name: 'limit',
      in: 'query',
      schema: { type: 'integer', minimum: 1, maximum: PAGE.max, default: PAGE.default },
    },
    After: {
      name: 'after',
      in: 'query',
      description: 'The id after which the page starts.',
      schema: { type: 'string' },
    },
    Sort: {
      name: 'sort',
      in: 'query',
      description: 'Fields to order by, such as -year,title. A hyphen reverses the order.',
      schema: { type: 'string' },
    },
    Cursor: {
      name: 'cursor',
      in: 'query',
      description: 'The position after which a sorted page begins, from the Link header.',
      schema: { type: 'string' },
    },
    Fields: {
      name: 'fields',
      in: 'query',
      description: 'Fields to return besides id, such as title,author.name.',
      schema: { type: 'string' },
    },
    OnConflict: {
      name: 'on-conflict',
      in: 'query',
      description: 'What an import does with a document whose id exists.',
      schema: { type: 'string', enum: [...ON_CONFLICT], default: ON_CONFLICT[0] },
    },
    ExportAs: {
      name: 'export-as',
      in: 'query',
      description: 'Exports every document that matches in this format, regardless of Accept.',
      schema: { type: 'string', enum: [...EXPORT_FORMATS] },
    },
    CsvCells: {
      name: 'csv-cells',
      in: 'query',
      description: 'raw leaves cells unchanged that a spreadsheet would evaluate.',
      schema: { type: 'string', enum: ['raw'] },
    },
    AcceptExport: {
      name: 'Accept',
      in: 'header',
      description:
        'application/json, with version=1 to select a version. application/x-ndjson or text/csv ' +
        'exports every document that matches, without limit, after and cursor.',
      schema: { type: 'string' },
    },
    ContentEncoding: {
      name: 'Content-Encoding',
      in: 'header',
      description: 'gzip, if the body is compressed.',
      schema: { type: 'string', enum: ['gzip'] },
    },
    Accept: {
      name: 'Accept',
      in: 'header',
      description: 'application/json, with version=1 to select a version.',
      schema: { type: 'string' },
    },
    Prefer: {
      name: 'Prefer',
      in: 'header',
      description:
        'respond-async runs a job; return=minimal omits the body (RFC 7240); count=exact ' +
        'counts all documents that match.',
      schema: { type: 'string' },
    },
    IfMatch: {
      name: 'If-Match',
      in: 'header',
      description: 'Entity tags or *, as in RFC 9110 §13.1.1.',
      schema: { type: 'string' },
    },
    IfMatchAny: {
      name: 'If-Match',
      in: 'header',
      description: 'Only *. A tag gets 412, because it does not cover the whole collection.',
      schema: { type: 'string', enum: ['*'] },
    },
    IfNoneMatch: {
      name: 'If-None-Match',
      in: 'header',
      description: 'Entity tags or *, as in RFC 9110 §13.1.2.',
      schema: { type: 'string' },
    },
  },
}
