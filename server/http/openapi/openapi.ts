import type { Hono } from 'hono'
import { generateSpecs } from 'hono-openapi'
import * as z from 'zod/mini'
import { person } from '../../contract/access/principal.ts'
import { acknowledgement, errorBody, errorObject } from '../../contract/acknowledgement.ts'
import { endpointRecord } from '../../contract/endpoints/endpoint.ts'
import { jobView } from '../../contract/job.ts'
import type { AppEnv } from '../env.ts'
import { type Declared, permissionOf } from '../guards/require-role.ts'
import { CODING_COMPONENTS, codingParameters, withCodingHeaders } from './openapi-coding.ts'
import { API_FAILURES, failuresOf } from './openapi-failures.ts'
import type { Components, Described, Operation } from './openapi-objects.ts'

/** The operations of a path. */
type PathItem = { readonly [method in (typeof METHODS)[number]]?: Operation }

/** Completed operations by method. */
type Completed = Record<string, Operation & Described>

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const

/** Schemas that many operations share. */
const SHARED = {
  Acknowledgement: acknowledgement,
  Endpoint: endpointRecord,
  Error: errorObject,
  ErrorBody: errorBody,
  Job: jobView,
  Person: person,
}

/** Returns the OpenAPI 3.1 schema of a response, or of a request body. */
export const schemaOf = (schema: z.ZodMiniType, io: 'input' | 'output' = 'output'): Described => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io })
  return rest
}

const SECURITY = [{ bearer: [] }, { basic: [] }, { session: [] }]

const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer', description: 'A token.' },
  basic: {
    type: 'http',
    scheme: 'basic',
    description: 'The token as the user name. The password is ignored.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'gatehouse',
    description:
      'The session of a person who signed in with a browser. The cookie name includes the id ' +
      'of the installation. Changes also require the header X-Gatehouse: 1 and an Origin of this server.',
  },
}

/** Returns the OpenAPI 3.1 document of an application, from the descriptions of its routes. */
export async function describeApi(app: Hono<AppEnv>, components: Components) {
  const routes = await generateSpecs(app, {
    exclude: [/^\/_(?:console|oauth2|idp)/, /^\/healthz/, '/'],
    // Otherwise the dot makes hono-openapi treat /_api/openapi.json as a file.
    excludeStaticFile: false,
  })
  const permissions = permissionsOf(app)
  const schemas = Object.entries(SHARED).map(([name, schema]) => [name, schemaOf(schema)] as const)
  const names = new Map(schemas.map(([name, schema]) => [JSON.stringify(schema), name]))
  const described = Object.entries(routes.paths as Record<string, PathItem>).map(
    ([path, item]) => [path, completed(path, item, { permissions, components, names })] as const,
  )
  const paths = Object.fromEntries(described.flatMap(withQueryForm))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Gatehouse',
      version: '0.1',
      description:
        'Every path is also available under /_db/{database}/, for the database with that name. ' +
        'Paths under /_api are available only in the database _system.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(Object.keys(paths).map(tagOf))]
      .sort()
      .map((name) => ({ name, description: TAGS[name] })),
    paths,
    components: {
      ...components,
      schemas: {
        ...components.schemas,
        ...Object.fromEntries(schemas),
      },
      responses: withCodingHeaders({ ...components.responses, ...API_FAILURES }),
      parameters: { ...components.parameters, ...CODING_COMPONENTS.parameters },
      headers: CODING_COMPONENTS.headers,
      securitySchemes,
    },
  }
}

/** Adds the parameters, credentials and failures that path, permission and body imply. */
function completed(
  path: string,
  item: PathItem,
  {
    permissions,
    components,
    names,
  }: {
    readonly permissions: ReadonlyMap<string, Declared>
    readonly components: Components
    readonly names: SharedNames
  },
): Completed {
  const result: Completed = {}
  for (const method of METHODS) {
    const operation = item[method]
    if (operation === undefined) continue
    // hono-openapi adds the parameters of the path, without a description.
    const parameters = (operation.parameters ?? []).filter((each) => each.in !== 'path')
    const needs = permissions.get(`${method} ${path}`)?.bySession ?? 'public'
    result[method] = {
      ...operation,
      operationId: OPERATION_IDS[`${method} ${path}`],
      tags: [tagOf(path)],
      security: needs === 'public' ? [] : needs === 'known' ? [{}, ...SECURITY] : SECURITY,
      parameters: [
        ...parameters,
        ...codingParameters(operation),
        ...pathParameters(path).filter((each) => !isIn(each, parameters, components)),
      ],
      responses: {
        ...failuresOf(path, method, operation, needs),
        ...withCodingHeaders(shared(operation.responses, names) as Operation['responses']),
      },
    }
  }
  return result
}

/** Adds `/{collection}/?id=`, which has the routes of `/{collection}/{id}`, to that path. */
function withQueryForm([path, item]: readonly [string, Completed]) {
  if (path !== '/{collection}/{id}') return [[path, item] as const]
  const inQuery = Object.entries(item).map(([method, operation]) => [
    method,
    {
      ...operation,
      operationId: `${operation.operationId}ByQuery`,
      parameters: operation.parameters?.map((each) =>
        each.$ref === DOCUMENT_ID ? { $ref: `${DOCUMENT_ID}InQuery` } : each,
      ),
    },
  ])
  return [[path, item] as const, ['/{collection}/', Object.fromEntries(inQuery)] as const]
}

const DOCUMENT_ID = '#/components/parameters/DocumentId'

const pathParameters = (path: string): Described[] =>
  [...path.matchAll(/\{([^{}]+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: name === 'address' ? 'The address, percent-encoded.' : undefined,
    schema: { type: 'string' },
  }))

/** Returns whether a parameter of the path is among parameters that refer to components. */
const isIn = ({ name }: Described, parameters: readonly Described[], components: Components) =>
  parameters.some(({ $ref }) => {
    const found = components.parameters[String($ref).replace(/^.*\//, '')]
    return found?.in === 'path' && found.name === name
  })

/** The names of {@link SHARED} by their schemas as JSON. */
type SharedNames = ReadonlyMap<string, string>

/** Replaces each schema of {@link SHARED} with a reference to it. */
function shared(value: unknown, names: SharedNames): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((each) => shared(each, names))
  const { $schema: _, ...rest } = value as Record<string, unknown>
  const name = names.get(JSON.stringify(rest))
  if (name !== undefined) return { $ref: `#/components/schemas/${name}` }
  return Object.fromEntries(Object.entries(rest).map(([key, each]) => [key, shared(each, names)]))
}

/** Returns the permissions of an application's routes, by method and OpenAPI path. */
function permissionsOf(app: Hono<AppEnv>): Map<string, Declared> {
  const found = new Map<string, Declared>()
  for (const { method, path, handler } of app.routes) {
    const declared = permissionOf(handler)
    const template = path.replace(/:([a-z]+)(?:\{[^}]*\})?/g, '{$1}')
    if (declared !== undefined) found.set(`${method.toLowerCase()} ${template}`, declared)
  }
  return found
}

/** The descriptions of the tags of operations. */
const TAGS: Readonly<Record<string, string>> = {
  address: 'The network addresses of this machine.',
  attention: 'What needs a person.',
  audit: 'The log of every administrative change.',
  certificate: 'The certificates of ssl endpoints.',
  collection: 'The collections of a database.',
  database: 'The databases.',
  document: 'JSON documents in collections.',
  endpoint: 'The configured network endpoints and their databases.',
  events: 'Live changes as server-sent events.',
  export: 'Export of a whole database.',
  feed: 'The changes of collections.',
  health: 'Liveness and readiness.',
  import: 'Import of a whole database.',
  index: 'The indexes of collections.',
  invitation: 'Invitations, each of which gives one person access.',
  job: 'Work that continues after the response.',
  listener: 'The sockets that serve the endpoints on each node.',
  metrics: 'Metrics for Prometheus.',
  node: 'The nodes that share the store.',
  openapi: 'This description.',
  policy: 'The rules of endpoints.',
  provider: 'The providers to sign in with.',
  request: 'The last requests of each endpoint.',
  schema: 'The JSON Schemas of collections.',
  session: 'The signed-in person.',
  size: 'The size of each database.',
  token: 'API tokens.',
  traffic: 'The traffic of the last day.',
  user: 'People, their roles and sessions.',
  webhook: 'The webhooks, which tell other servers about changes.',
}

/** Returns the tag of the operations of a path: its noun. */
const tagOf = (path: string): string =>
  path.startsWith('/{collection}') ? 'document' : (/^\/_(?:api\/)?([a-z]+)/.exec(path)?.[1] ?? '')

/**
 * The ids of operations by method and path. Generated clients name their functions by them, so an
 * id does not change.
 */
const OPERATION_IDS: Readonly<Record<string, string>> = {
  'get /_api/address': 'listAddresses',
  'get /_api/attention': 'listAttention',
  'get /_api/audit': 'readAuditLog',
  'get /_api/certificate': 'listCertificates',
  'post /_api/certificate': 'addCertificate',
  'get /_api/certificate/{name}': 'getCertificate',
  'put /_api/certificate/{name}': 'setCertificate',
  'delete /_api/certificate/{name}': 'removeCertificate',
  'get /_api/certificate-root': 'getCertificateRoot',
  'get /_api/collection': 'listCollections',
  'get /_api/database': 'listDatabases',
  'post /_api/database': 'createDatabase',
  'delete /_api/database/{name}': 'dropDatabase',
  'get /_api/endpoint': 'listEndpoints',
  'post /_api/endpoint': 'setEndpoint',
  'delete /_api/endpoint': 'removeEndpointByQuery',
  'delete /_api/endpoint/{address}': 'removeEndpoint',
  'post /_api/endpoint-change': 'changeEndpoints',
  'post /_api/endpoint-change/{id}/undo': 'undoEndpointChange',
  'post /_api/endpoint-check': 'checkEndpoint',
  'get /_api/policy': 'getPolicies',
  'put /_api/policy': 'setPolicy',
  'post /_api/policy-test': 'testPolicy',
  'delete /_api/policy': 'removePolicy',
  'post /_api/policy-trial/{id}/confirm': 'confirmPolicy',
  'get /_api/events': 'followEvents',
  'get /_api/health': 'getHealth',
  'get /_api/health/live': 'getLiveness',
  'get /_api/health/ready': 'getReadiness',
  'get /_api/listener': 'listListeners',
  'post /_api/listener/close': 'closeListenerByQuery',
  'post /_api/listener/retry': 'retryListenerByQuery',
  'get /_api/listener/traffic': 'getListenerTrafficByQuery',
  'post /_api/listener/{address}/close': 'closeListener',
  'post /_api/listener/{address}/retry': 'retryListener',
  'get /_api/listener/{address}/traffic': 'getListenerTraffic',
  'get /_api/metrics': 'getMetrics',
  'get /_api/node': 'listNodes',
  'get /_api/openapi.json': 'getOpenApi',
  'get /_api/provider': 'listProviders',
  'get /_api/provider/setup': 'listProviderCallbacks',
  'post /_api/provider': 'addProvider',
  'put /_api/provider/{name}': 'changeProvider',
  'delete /_api/provider/{name}': 'removeProvider',
  'post /_api/provider/{name}/test': 'testProvider',
  'get /_api/provider/{name}/test/{id}': 'getProviderTest',
  'get /_api/invitation': 'listInvitations',
  'post /_api/invitation': 'createInvitation',
  'delete /_api/invitation/{id}': 'deleteInvitation',
  'get /_api/request': 'listRequests',
  'get /_api/session': 'getSession',
  'delete /_api/session': 'signOut',
  'get /_api/size': 'listDatabaseSizes',
  'get /_api/token': 'listTokens',
  'post /_api/token': 'createToken',
  'delete /_api/token/{id}': 'revokeToken',
  'get /_api/traffic': 'getTraffic',
  'get /_api/traffic/endpoint': 'getTrafficOfEndpoints',
  'get /_api/user': 'listPeople',
  'patch /_api/user/{id}': 'changeRole',
  'get /_api/user/{id}/session': 'listSessions',
  'delete /_api/user/{id}/session/{session}': 'endSession',
  'get /_api/webhook': 'listWebhooks',
  'post /_api/webhook': 'createWebhook',
  'get /_api/webhook/{name}': 'getWebhook',
  'patch /_api/webhook/{name}': 'changeWebhook',
  'delete /_api/webhook/{name}': 'deleteWebhook',
  'post /_api/webhook/{name}/test': 'testWebhook',
  'post /_api/webhook/{name}/pause': 'pauseWebhook',
  'post /_api/webhook/{name}/resume': 'resumeWebhook',
  'post /_api/webhook/{name}/secret': 'renewWebhookSecret',
  'get /_api/webhook/{name}/delivery': 'listWebhookDeliveries',
  'post /_api/webhook/{name}/delivery/{id}/retry': 'retryWebhookDelivery',
  'get /_export': 'exportDatabase',
  'post /_import': 'importDatabase',
  'get /_feed': 'listFeeds',
  'get /_feed/{collection}': 'getFeed',
  'put /_feed/{collection}': 'setFeed',
  'delete /_feed/{collection}': 'deleteFeed',
  'get /_feed/{collection}/changes': 'followChanges',
  'get /_index/{collection}': 'listIndexes',
  'put /_index/{collection}/{name}': 'createIndex',
  'delete /_index/{collection}/{name}': 'deleteIndex',
  'get /_job/{id}': 'getJob',
  'delete /_job/{id}': 'cancelJob',
  'get /_schema/{collection}': 'getSchema',
  'put /_schema/{collection}': 'setSchema',
  'delete /_schema/{collection}': 'deleteSchema',
  'get /{collection}': 'listDocuments',
  'post /{collection}': 'createDocument',
  'patch /{collection}': 'patchDocuments',
  'delete /{collection}': 'deleteDocuments',
  'get /{collection}/{id}': 'getDocument',
  'put /{collection}/{id}': 'replaceDocument',
  'patch /{collection}/{id}': 'patchDocument',
  'delete /{collection}/{id}': 'deleteDocument',
}
