import { changeList, feedInput, feedList, feedView } from '../contract/feed.ts'
import { schemaOf } from '../http/openapi/openapi.ts'
import type { Described, Operation } from '../http/openapi/openapi-objects.ts'

const ref = (path: string) => ({ $ref: `#/components/${path}` })
const json = (schema: Parameters<typeof schemaOf>[0], io?: 'input') => ({
  'application/json': {
    // Converted when the document is generated: a start would take longer.
    get schema() {
      return schemaOf(schema, io)
    },
  },
})
const COLLECTION = ref('parameters/Collection')
const NOT_FOUND = ref('responses/NotFound')
const FAILED = ref('responses/PreconditionFailed')
const error = (description: string) => ({
  description,
  content: { 'application/json': { schema: ref('schemas/ErrorBody') } },
})
const query = (name: string, description: string, schema: Described): Described => ({
  name,
  in: 'query',
  description,
  schema,
})
const header = (name: string, description: string): Described => ({
  name,
  in: 'header',
  description,
  schema: { type: 'string' },
})
const FEED = { description: 'The feed', content: json(feedView) }

/** The operation of `/_feed`. */
export const listOperation = {
  summary: 'List the feeds of a database',
  responses: { '200': { description: 'The feeds by collection', content: json(feedList) } },
} satisfies Operation

/** The operations of `/_feed/<collection>`. */
export const feedOperations = {
  get: {
    summary: 'Read the state of a feed',
    parameters: [COLLECTION],
    responses: { '200': FEED, '404': NOT_FOUND },
  },
  put: {
    summary: 'Turn a feed on, or change how long it keeps changes',
    parameters: [COLLECTION, ref('parameters/IfMatchAny')],
    requestBody: { required: true, content: json(feedInput, 'input') },
    responses: {
      '200': FEED,
      '201': { description: 'The feed was turned on.', content: json(feedView) },
      '412': FAILED,
    },
  },
  delete: {
    summary: 'Turn a feed off',
    parameters: [COLLECTION, ref('parameters/Prefer'), ref('parameters/IfMatchAny')],
    responses: {
      '200': { description: 'The feed that was turned off', content: json(feedView) },
      '204': {
        description: 'The feed was turned off; for Prefer: return=minimal.',
        headers: {
          'Preference-Applied': { description: 'return=minimal', schema: { type: 'string' } },
        },
      },
      '404': NOT_FOUND,
      '412': FAILED,
    },
  },
} satisfies Record<string, Operation>

/** The operation of `/_feed/<collection>/changes`. */
export const changesOperations = {
  get: {
    summary: 'List or follow the changes of a collection',
    description:
      'With Accept: text/event-stream, each change is an event whose id is its position.',
    parameters: [
      COLLECTION,
      query('after', 'The position after which the changes begin.', { type: 'string' }),
      query('limit', 'Maximum number of changes.', {
        type: 'integer',
        minimum: 1,
        maximum: 1000,
        default: 100,
      }),
      query('include', 'document adds the document after each change.', {
        type: 'string',
        enum: ['document'],
      }),
      ref('parameters/Filters'),
      ref('parameters/Fields'),
      header('Accept', 'application/json or text/event-stream.'),
      header('Last-Event-ID', 'The position after which a stream begins, instead of after.'),
      header('Prefer', 'wait=30 waits up to 30 s for a change, at most 60 (RFC 7240).'),
    ],
    responses: {
      '200': {
        description: 'The changes in the order in which they were committed',
        headers: {
          'Preference-Applied': {
            description: 'The wait, if one was requested.',
            schema: { type: 'string' },
          },
        },
        content: { ...json(changeList), 'text/event-stream': {} },
      },
      '404': NOT_FOUND,
      '410': error('The changes after this position are no longer kept.'),
    },
  },
} satisfies Record<string, Operation>
