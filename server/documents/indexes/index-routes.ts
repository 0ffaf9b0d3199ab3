import { type Context, Hono } from 'hono'
import { COLLECTION_PARAMETER } from '../../contract/document.ts'
import { documentIndex, indexInput, indexList } from '../../contract/document-index.ts'
import type { AppEnv } from '../../http/env.ts'
import { audited } from '../../http/guards/audit-change.ts'
import { callerOf, type RequireRole } from '../../http/guards/require-role.ts'
import { jsonBody } from '../../http/input/body/json-body.ts'
import { conditionsOf, isNotModified, requireNoConditions } from '../../http/input/headers.ts'
import { MINIMAL, prefersMinimal } from '../../http/input/prefer.ts'
import { createCollectionParam, pathParam, requireNoParameters } from '../../http/input/url.ts'
import { described } from '../../http/openapi/describe.ts'
import type { OnTargetRecord, Recorder } from '../../storage/changes/recorder.ts'
import { failure, jsonOf, parameter } from '../describe-components.ts'
import {
  body,
  CONDITIONS_WITHOUT_TAG,
  NO_CONTENT,
  notModified,
  operations,
} from '../describe-routes.ts'
import type { Indexes } from './indexes.ts'

export interface IndexRoutesDeps {
  readonly indexes: Indexes
  readonly requireRole: RequireRole
  readonly record: Recorder
  /** Returns the id of an existing database. */
  readonly idOf: (database: string) => string
}

const PATH = `/${COLLECTION_PARAMETER}` as const

/** Maximum size of the definition of an index, bytes. */
const BODY = 16 * 1024

/** Returns the routes of `/_index/<collection>`, the indexes of a collection, in every database. */
export function indexRoutes({ indexes, requireRole, record, idOf }: IndexRoutesDeps) {
  const parseCollection = createCollectionParam(idOf)
  const collectionOf = (c: Context<AppEnv>) => {
    requireNoParameters(c, 'A request for indexes')
    return parseCollection(c)
  }
  const nameOf = (c: Context<AppEnv>) => pathParam(c, 'name')
  const targetOf = (c: Context<AppEnv>) =>
    [c.get('database'), c.req.param('collection'), c.req.param('name')].join('/')
  const recordOf = (c: Context<AppEnv>): OnTargetRecord => ({
    record,
    actor: callerOf(c),
    target: targetOf(c),
  })
  return new Hono<AppEnv>()
    .get(PATH, described(collectionIndexes.get, requireRole('viewer')), async (c) => {
      const list = await indexes.list(collectionOf(c))
      // The console's client infers the type of the list, and sends no conditions.
      return isNotModified(c) ? (c.body(null, 304) as never) : c.json(list, 200)
    })
    .put(
      `${PATH}/:name`,
      audited('index.create', targetOf),
      described(documentIndexOperations.put, requireRole('editor')),
      jsonBody(indexInput, BODY),
      async (c) => {
        requireNoConditions(conditionsOf(c), 'indexes')
        const input = c.req.valid('json')
        const { created, index } = await indexes.put(collectionOf(c), nameOf(c), input, recordOf(c))
        return c.json(index, created ? 201 : 200)
      },
    )
    .delete(
      `${PATH}/:name`,
      audited('index.drop', targetOf),
      described(documentIndexOperations.delete, requireRole('editor')),
      async (c) => {
        requireNoConditions(conditionsOf(c), 'indexes')
        const deleted = await indexes.delete(collectionOf(c), nameOf(c), recordOf(c))
        return prefersMinimal(c) ? c.body(null, 204, MINIMAL) : c.json(deleted, 200)
      },
    )
}

const INDEX = jsonOf(documentIndex)

/** The operations of `/_index/<collection>`. */
const collectionIndexes = operations([parameter('Collection')], {
  get: {
    summary: 'List the indexes of a collection',
    parameters: CONDITIONS_WITHOUT_TAG,
    responses: {
      '200': { description: 'The indexes, by name', content: jsonOf(indexList) },
      '304': notModified(),
      '404': failure('NotFound'),
      '412': failure('PreconditionFailed'),
    },
  },
})

/** The operations of `/_index/<collection>/<name>`. */
const documentIndexOperations = operations([parameter('Collection'), parameter('IndexName')], {
  put: {
    summary: 'Create an index of a collection',
    description:
      'The index is built in the background, and serves queries once it is ready. One with the same definition whose build has failed is built again.',
    parameters: [parameter('IfMatchAny')],
    requestBody: body(jsonOf(indexInput, 'input'), 'The fields of the index.'),
    responses: {
      '200': { description: 'The index exists with this definition.', content: INDEX },
      '201': { description: 'The index was created.', content: INDEX },
      '409': failure('IndexConflict'),
      '412': failure('PreconditionFailed'),
    },
  },
  delete: {
    summary: 'Delete an index of a collection',
    parameters: [parameter('Prefer'), parameter('IfMatchAny')],
    responses: {
      '200': { description: 'The index that was deleted', content: INDEX },
      '204': NO_CONTENT,
      '404': failure('NotFound'),
      '412': failure('PreconditionFailed'),
    },
  },
})
