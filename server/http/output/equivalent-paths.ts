import type { Failure } from '../../failure.ts'

const FIND = 'GET /<collection> finds documents, such as GET /articles?year:gte=2000&sort=-year.'
const DOCUMENTS = 'GET, PUT, PATCH and DELETE /<collection>/<id> read and change documents.'
const STORE = 'POST /<collection> stores a document, an array, or lines of NDJSON.'

/**
 * Paths of other servers as `METHOD path`, and what is similar here: of CouchDB, ArangoDB,
 * Elasticsearch and PostgREST. CouchDB has some of them below the name of a database.
 */
const EQUIVALENTS: readonly (readonly [request: RegExp, here: string])[] = [
  [
    /^PUT \/[^/_][^/]*$/,
    'POST /_api/database creates a database. A collection begins with its first document: ' +
      'POST it to /<collection>.',
  ],
  [/^POST \/_api\/collection$/, `A collection begins with its first document. ${STORE}`],
  [/ \/_(?:all_dbs|dbs|databases)$/, 'GET /_api/database lists the databases.'],
  [/ \/_(?:up|health|ping|status)$/, 'GET /healthz returns the health of the node.'],
  [
    / (?:\/[^/]+)?\/_(?:find|search|msearch|query|explain|count|all_docs|design|view)(?:\/|$)/,
    FIND,
  ],
  [/ \/_api\/(?:cursor|query|simple)(?:\/|$)/, FIND],
  [/ \/_api\/(?:document|edge)(?:\/|$)/, DOCUMENTS],
  [/ (?:\/[^/]+)?\/_doc(?:\/|$)/, DOCUMENTS],
  [/ (?:\/[^/]+)?\/_(?:bulk|bulk_docs)$/, STORE],
  [/ \/_api\/import(?:\/|$)/, STORE],
  [
    / \/(?:_session|_open\/auth)$/,
    'GET /_api/session returns the caller. Programs send a token with each request.',
  ],
  [/ \/_(?:users|security|roles)(?:\/|$)/, 'GET /_api/user lists people and their roles.'],
  [
    / (?:\/[^/]+)?\/_(?:changes|db_updates)$/,
    'GET /_feed/<collection>/changes lists and streams the changes of a collection.',
  ],
  [/ \/_api\/index(?:\/|$)/, 'GET /_index/<collection> lists indexes.'],
  [/ \/_(?:api\/job|active_tasks|tasks)(?:\/|$)/, 'GET /_job/<id> returns a job.'],
  [/ \/_(?:stats|metrics|prometheus)(?:\/|$)/, 'GET /_api/metrics returns metrics.'],
  [/ \/_(?:nodes?|cluster|membership|cat)(?:\/|$)/, 'GET /_api/node lists the nodes.'],
  [/ \/_(?:utils|admin|dashboard)(?:\/|$)/, 'The console is at /_console/.'],
  [/ \/_uuids$/, `${STORE} Missing ids are generated.`],
  [/ \/_api\/version$/, 'GET /_api/openapi.json describes this server.'],
]

/** Adds to the failure of a request without a route what is similar to that of another server. */
export function withEquivalent(failure: Failure, method: string, path: string): Failure {
  const request = `${method} ${path}`
  const here = EQUIVALENTS.find(([each]) => each.test(request))?.[1]
  return here === undefined ? failure : failure.with({ message: `${failure.message} ${here}` })
}
