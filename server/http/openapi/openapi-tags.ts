/** The descriptions of the tags of operations. */
export const TAGS: Readonly<Record<string, string>> = {
  address: 'The network addresses of this machine.',
  audit: 'The log of every administrative change.',
  collection: 'The collections of a database.',
  database: 'The databases.',
  document: 'JSON documents in collections.',
  endpoint: 'The configured network endpoints and their databases.',
  events: 'Live changes as server-sent events.',
  export: 'Export of a whole database.',
  health: 'Liveness and readiness.',
  import: 'Import of a whole database.',
  index: 'The indexes of collections.',
  job: 'Work that continues after the response.',
  listener: 'The sockets that serve the endpoints on each node.',
  metrics: 'Metrics for Prometheus.',
  node: 'The nodes that share the store.',
  openapi: 'This description.',
  provider: 'The providers to sign in with.',
  schema: 'The JSON Schemas of collections.',
  session: 'The signed-in person.',
  size: 'The size of each database.',
  token: 'API tokens.',
  user: 'People, their roles and sessions.',
}

/** Returns the tag of the operations of a path: its noun. */
export const tagOf = (path: string): string =>
  path.startsWith('/{collection}') ? 'document' : (/^\/_(?:api\/)?([a-z]+)/.exec(path)?.[1] ?? '')
