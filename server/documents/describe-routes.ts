import { errorBody } from '../contract/acknowledgement.ts'
import { ID_LENGTH, PAGE } from '../contract/document.ts'
import { jobView } from '../contract/job.ts'
import { violation } from '../contract/schema.ts'
import {
  type Described,
  type DescribedPaths,
  type Operation,
  type PathItem,
  schemaOf,
} from '../http/openapi.ts'

const ref = (path: string) => ({ $ref: `#/components/${path}` })
const parameter = (name: string) => ref(`parameters/${name}`)
const failure = (name: string) => ref(`responses/${name}`)

const header = (description: string) => ({ description, schema: { type: 'string' as const } })
const TAG = header('Identifies this state of what was returned, for If-Match and If-None-Match.')
const JOB = header('The path of the job.')

const json = (schema: object) => ({ 'application/json': { schema } })
const DOCUMENT = json(ref('schemas/Document'))
const DOCUMENTS = json({ type: 'array', items: ref('schemas/Document') })
const JSON_SCHEMA = json({ type: 'object', description: 'A JSON Schema, draft 2020-12.' })

const one = { description: 'The document', headers: { ETag: TAG }, content: DOCUMENT }
const page = {
  description: 'A page of the collection, in order of the ids',
  headers: { ETag: TAG, Link: header('The next page (RFC 8288), if there is one.') },
  content: DOCUMENTS,
}
const started = (description: string, content: object) => ({
  description,
  headers: { Location: JOB, 'Preference-Applied': header('respond-async') },
  content,
})
const NOT_MODIFIED = { description: 'The state is one that If-None-Match names.' }
const NO_CONTENT = { description: 'Done, for Prefer: return=minimal.' }
const JOB_STARTED = started(
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
const WRITTEN = { ...CHANGED_STATES, '413': failure('TooLarge'), '507': failure('StorageFull') }

const body = (content: object, description: string) => ({
  required: true,
  description,
  content,
})

const counted = (name: string) => ({
  description: 'How many documents it was',
  content: json({ type: 'object', required: [name], properties: { [name]: { type: 'integer' } } }),
})

const CONDITIONS = [parameter('IfMatch'), parameter('IfNoneMatch')]

const collection: PathItem = {
  parameters: [parameter('Collection')],
  get: {
    summary: 'List documents',
    description:
      'Any other query parameter filters: `?author=ada` finds documents whose field author is the ' +
      'string "ada", or whose value prints as that JSON.',
    parameters: [
      parameter('Limit'),
      parameter('After'),
      parameter('Accept'),
      parameter('IfNoneMatch'),
      parameter('Prefer'),
    ],
    responses: {
      '200': page,
      '206': started('The first part; a job goes through the rest.', DOCUMENTS),
      '304': NOT_MODIFIED,
      '406': failure('NotAcceptable'),
    },
  },
  post: {
    summary: 'Create a document, or all documents of an array',
    parameters: [parameter('Accept'), parameter('Prefer')],
    requestBody: body(
      json({
        oneOf: [ref('schemas/Document'), { type: 'array', items: ref('schemas/Document') }],
      }),
      'A JSON object, or an array of them. An id that is missing is generated.',
    ),
    responses: {
      '201': {
        description: 'What was stored',
        headers: { ETag: TAG, Location: header('The path of the document.') },
        content: json({
          oneOf: [ref('schemas/Document'), { type: 'array', items: ref('schemas/Document') }],
        }),
      },
      '202': JOB_STARTED,
      '406': failure('NotAcceptable'),
      '409': failure('Conflict'),
      ...WRITTEN,
    },
  },
  patch: {
    summary: 'Merge a patch into every document that passes the filter',
    description: 'All or nothing. limit and after are rejected.',
    parameters: [parameter('Accept'), parameter('Prefer')],
    requestBody: body(json({ type: 'object' }), 'A JSON merge patch (RFC 7396).'),
    responses: {
      '200': counted('changed'),
      '202': JOB_STARTED,
      '204': NO_CONTENT,
      '406': failure('NotAcceptable'),
      ...WRITTEN,
    },
  },
  delete: {
    summary: 'Delete every document that passes the filter',
    description: 'All or nothing. limit and after are rejected.',
    parameters: [parameter('Accept'), parameter('Prefer')],
    responses: {
      '200': counted('deleted'),
      '202': JOB_STARTED,
      '204': NO_CONTENT,
      '406': failure('NotAcceptable'),
      '412': failure('PreconditionFailed'),
    },
  },
}

const changed = (summary: string, description: string): Operation => ({
  summary,
  parameters: [parameter('Accept'), ...CONDITIONS],
  requestBody: body(json({ type: 'object' }), description),
  responses: {
    '200': one,
    '404': failure('NotFound'),
    '406': failure('NotAcceptable'),
    ...WRITTEN,
  },
})

const document: PathItem = {
  parameters: [parameter('Collection'), parameter('DocumentId')],
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
  put: changed('Replace a document', 'The whole document; its id may be left out.'),
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
}

const schema: PathItem = {
  parameters: [parameter('Collection')],
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
    description: 'Documents that are changed from then on must be valid; stored ones stay.',
    parameters: [parameter('Accept'), ...CONDITIONS],
    requestBody: body(JSON_SCHEMA, 'A JSON Schema, draft 2020-12.'),
    responses: {
      '200': { description: 'The schema', headers: { ETag: TAG }, content: JSON_SCHEMA },
      '406': failure('NotAcceptable'),
      ...WRITTEN,
    },
  },
  delete: {
    summary: 'Remove the JSON Schema of a collection',
    parameters: [parameter('Accept'), parameter('Prefer'), ...CONDITIONS],
    responses: {
      '200': { description: 'The schema that was removed', content: JSON_SCHEMA },
      '204': NO_CONTENT,
      '404': failure('NotFound'),
      '406': failure('NotAcceptable'),
      '412': failure('PreconditionFailed'),
    },
  },
}

const job: PathItem = {
  parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
  get: {
    summary: 'Read a job and what it has done so far',
    parameters: [parameter('Limit'), parameter('After')],
    responses: {
      '200': { description: 'The job has ended.', content: json(ref('schemas/Job')) },
      '206': { description: 'The job is running.', content: json(ref('schemas/Job')) },
      '404': failure('NotFound'),
    },
  },
}

/** The paths of documents, schemas and jobs. Their routes carry no descriptions: they are fast paths. */
export const documentPaths: DescribedPaths['paths'] = {
  '/{collection}': collection,
  '/{collection}/{id}': document,
  '/_schema/{collection}': schema,
  '/_job/{id}': job,
}

const error = (description: string): Described => ({
  description,
  content: json(ref('schemas/ErrorBody')),
})

/** What {@link documentPaths} refers to. */
export const documentComponents: DescribedPaths['components'] = {
  schemas: {
    Document: {
      type: 'object',
      required: ['id'],
      properties: { id: { type: 'string', minLength: 1, maxLength: ID_LENGTH } },
      additionalProperties: true,
    },
    Job: schemaOf(jobView),
    ErrorBody: schemaOf(errorBody),
    ValidationError: {
      allOf: [
        ref('schemas/ErrorBody'),
        {
          type: 'object',
          properties: { violations: { type: 'array', items: schemaOf(violation) } },
        },
      ],
    },
  },
  responses: {
    BadRequest: error('The request is malformed, or has a parameter that is not supported.'),
    Unauthorized: error('The request carries no valid credentials.'),
    Forbidden: error('The role or the scope of the credentials does not permit this.'),
    NotFound: error('There is no such document, collection or database.'),
    NotAcceptable: error('The version that Accept names is not known.'),
    Conflict: error('A document with this id exists.'),
    PreconditionFailed: error('The state is not the one that If-Match or If-None-Match names.'),
    TooLarge: error('The body is larger than allowed.'),
    UnsupportedMediaType: error('The body is not JSON.'),
    Invalid: {
      description: 'The document is not valid.',
      content: json(ref('schemas/ValidationError')),
    },
    TooManyRequests: error('A rate limit is exceeded.'),
    Unavailable: error('The store cannot be reached.'),
    StorageFull: error('The disk of the store is full.'),
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
    Limit: {
      name: 'limit',
      in: 'query',
      schema: { type: 'integer', minimum: 1, maximum: PAGE.most, default: PAGE.usual },
    },
    After: {
      name: 'after',
      in: 'query',
      description: 'The id after which the page begins.',
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
      description: 'respond-async runs a job; return=minimal leaves the body out (RFC 7240).',
      schema: { type: 'string' },
    },
    IfMatch: {
      name: 'If-Match',
      in: 'header',
      description: 'Entity tags or *, as in RFC 9110 §13.1.1.',
      schema: { type: 'string' },
    },
    IfNoneMatch: {
      name: 'If-None-Match',
      in: 'header',
      description: 'Entity tags or *, as in RFC 9110 §13.1.2.',
      schema: { type: 'string' },
    },
  },
}
