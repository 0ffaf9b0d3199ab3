// The components of the OpenAPI description, to which several operations refer.

import type * as z from 'zod/mini'
import { ID_LENGTH, PAGE } from '../contract/document.ts'
import { CSV_SEPARATORS, CSV_TYPES, ON_CONFLICT } from '../contract/import.ts'
import { schemaOf } from '../http/openapi/openapi.ts'
import type { Components, Described } from '../http/openapi/openapi-objects.ts'
import { OPERATORS } from './query/filter.ts'
import { EXPORT_FORMATS } from './query/query.ts'

export const ref = (path: string) => ({ $ref: `#/components/${path}` })
export const parameter = (name: string) => ref(`parameters/${name}`)
export const failure = (name: string) => ref(`responses/${name}`)
export const header = (description: string) => ({
  description,
  schema: { type: 'string' as const },
})
export const json = (schema: object) => ({ 'application/json': { schema } })
/** Describes the body of a response, or of a request, by the schema of its contract. */
export const jsonOf = (schema: z.ZodMiniType, io?: 'input') => ({
  'application/json': {
    // Converted when the document is generated: a start would take 5 ms longer.
    get schema() {
      return schemaOf(schema, io)
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

const DOCUMENT: Described = {
  type: 'object',
  properties: { id: { type: 'string', minLength: 1, maxLength: ID_LENGTH } },
  additionalProperties: true,
}

/** Components of the operations of documents, schemas and jobs, in addition to shared schemas. */
export const documentComponents: Components = {
  schemas: {
    Document: { ...DOCUMENT, required: ['id'] },
    NewDocument: DOCUMENT,
  },
  responses: {
    BadRequest: error('The request is malformed, or has a parameter that is not supported.'),
    Unauthorized: error('The request has no valid credentials.', {
      'WWW-Authenticate': header('The scheme of the credentials (RFC 9110 §11.6.1).'),
    }),
    Forbidden: error('The role or the scope of the credentials does not permit this.'),
    NotFound: error('There is no such document, collection or database.'),
    RequestTimeout: error('The body arrived too slowly.'),
    NotAcceptable: error('The version in Accept is unknown.'),
    Conflict: error(
      'A document with this id exists, or a unique index contains a document with the same values.',
    ),
    IndexConflict: error('The index has another definition, or there are too many.'),
    PreconditionFailed: error('The precondition in If-Match or If-None-Match failed.'),
    Misdirected: error('A session cookie was sent to a host name of another server.'),
    TooLarge: error('The body is larger than allowed.'),
    UnsupportedMediaType: error('The body has an unsupported type, charset or coding.', {
      'Accept-Encoding': header('gzip, if the coding is unsupported.'),
      'Accept-Patch': header('application/merge-patch+json, if the body is a JSON Patch.'),
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
    DocumentIdInQuery: {
      name: 'id',
      in: 'query',
      required: true,
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
        `compares by an operator: ${OPERATORS.join(', ')}. All filters must match; an array is several ` +
        'filters with the same name.',
      style: 'form',
      explode: true,
      schema: {
        type: 'object',
        additionalProperties: {
          anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
        },
      },
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
      description: 'The id after which the page starts, in the ascending order of ids.',
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
      description: 'What happens to a document whose id exists. With fail, JSON gets 409.',
      schema: { type: 'string', enum: [...ON_CONFLICT], default: ON_CONFLICT[0] },
    },
    CsvSeparator: {
      name: 'csv-separator',
      in: 'query',
      description: 'The separator of the cells of CSV.',
      schema: { type: 'string', enum: Object.keys(CSV_SEPARATORS), default: 'comma' },
    },
    CsvTypes: {
      name: 'csv-types',
      in: 'query',
      description: 'string imports every cell of CSV as a string.',
      schema: { type: 'string', enum: [...CSV_TYPES], default: CSV_TYPES[0] },
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
        'respond-async runs a job; return=minimal omits the body, and return=representation lists ' +
        'the documents that an import creates (RFC 7240); count=exact counts all documents ' +
        'that match.',
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
      description: 'Only *. A tag gets 412, because none covers what the request reads or changes.',
      schema: { type: 'string', enum: ['*'] },
    },
    IfNoneMatchAny: {
      name: 'If-None-Match',
      in: 'header',
      description: '* gets 304. There is no tag, so any other value has no effect.',
      schema: { type: 'string' },
      example: '*',
    },
    IfNoneMatch: {
      name: 'If-None-Match',
      in: 'header',
      description: 'Entity tags or *, as in RFC 9110 §13.1.2.',
      schema: { type: 'string' },
    },
  },
}
