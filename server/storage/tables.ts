import type { Generated } from 'kysely'

/** An address that Gatehouse listens on, and what can be reached through it. */
export interface EndpointsTable {
  /** The canonical address: the primary key, ordered by code point on both engines. */
  address: string
  /** A JSON array of database names, in order; `[]` stands for every database. */
  databases: string
  /** The store-wide revision at which this row last changed. */
  revision: number
  /** JSON: by whom it was asked for; null once some node listens on it. See `proposals.ts`. */
  proposal: Generated<string | null>
  proposed_at: Generated<number | null>
}

/** A running Gatehouse that shares the store. */
export interface NodesTable {
  /** The primary key. */
  name: string
  /** Another one at each start. */
  run: string
  /** The machine and its network: nodes at one place cannot both have a port. */
  place: string
  started_at: number
  /** When it last said that it is alive, by the clock of the store. */
  seen_at: number
  /** Raised by everything that it reports. */
  report: number
  /** How many listeners it has. */
  listeners: number
}

/** What a node has reported of a listener. Node and id are the primary key. */
export interface NodeListenersTable {
  node: string
  /** Given by the node, to one listener. */
  id: number
  address: string
  state: string
  /** The report of its node that it was last part of. */
  report: number
  /** JSON: a `ListenerStatus`. */
  status: string
  /** What another node asks its node to do with it: `retry` or `close`. */
  asked: string | null
}

/** A named set of collections. */
export interface DatabasesTable {
  /** The primary key, ordered by code point on both engines. */
  name: string
  /** Milliseconds since 1970, UTC. */
  created_at: number
  /** By which its documents are found; never given to another database. */
  id: Generated<string>
}

/** A JSON document. Database, collection and id are the primary key, ordered by code point. */
export interface DocumentsTable {
  /** The id of its database, not the name. */
  database: string
  collection: string
  id: string
  /** Of its present state: another one after each change. */
  tag: string
  /** JSON, `id` included. */
  body: string
}

/** The JSON Schema of a collection. Database and collection are the primary key. */
export interface SchemasTable {
  /** The id of its database, not the name. */
  database: string
  collection: string
  /** Of its present state: another one after each change, never given twice. */
  tag: string
  /** JSON. */
  body: string
}

/** Numbers that only grow; raised by `next-revision.ts`. */
export interface CountersTable {
  name: 'revision'
  value: number
}

/** Somebody who has signed in, known by provider, issuer and subject together. */
export interface PeopleTable {
  /** A random UUID: the primary key. */
  id: string
  provider: string
  /** The issuer, or the token endpoint of a provider without one. */
  issuer: string
  /** The id at the provider. */
  subject: string
  /** `<provider>:<subject>`. */
  username: string
  /** As the provider calls the person. */
  name: string | null
  role: string
  created_at: number
  last_sign_in_at: number | null
  /** Of the provider, encrypted, as of the last sign-in. */
  access_token: string | null
  refresh_token: string | null
  token_expires_at: number | null
}

/** A sign-in that lasts. The secret in the cookie is not here, only its hash. */
export interface SessionsTable {
  /** SHA-256 of the secret, hexadecimal: the primary key. */
  hash: string
  /** By which it is listed and revoked. */
  id: string
  person_id: string
  created_at: number
  last_seen_at: number
  /** When it ends at the latest. */
  expires_at: number
  address: string | null
  user_agent: string | null
  /** The fingerprint of the operator key it was made with; null: made by another provider. */
  operator_key: string | null
  /** Of the provider, encrypted. */
  access_token: string | null
  refresh_token: string | null
  token_expires_at: number | null
}

/** A sign-in under way, from its start to its callback. */
export interface SignInsTable {
  /** SHA-256 of the CSRF token, hexadecimal: the primary key. */
  hash: string
  provider: string
  form: string
  /** What the provider was told. */
  redirect_uri: string
  /** What it is told at the exchange. */
  exchange_uri: string
  /** Of PKCE (RFC 7636), encrypted. */
  verifier: string
  nonce: string | null
  return_to: string
  expires_at: number
}

/** An API credential. */
export interface TokensTable {
  id: string
  name: string
  /** Its first characters, by which people tell one from another. */
  prefix: string
  /** SHA-256 of the token, hexadecimal. */
  hash: string
  owner_id: string
  role: string
  /** A JSON array of names; null: every database. */
  databases: string | null
  created_at: number
  expires_at: number | null
  last_used_at: number | null
}

/** What was changed, by whom: each row's hash covers the one before. */
export interface AuditTable {
  seq: number
  at: number
  actor: string
  by: string
  address: string | null
  action: string
  target: string
  outcome: string
  /** JSON. */
  before: string
  /** JSON. */
  after: string
  hash: string
}

/** The last row of the audit log; its lock puts the rows in order. One row, `id` 1. */
export interface AuditHeadTable {
  id: number
  seq: number
  hash: string
}

/** Failed attempts in a running period, by what they are counted for. */
export interface FailuresTable {
  key: string
  count: number
  expires_at: number
}

/** What the local provider keeps: its sessions, codes and grants. */
export interface LocalProviderTable {
  /** Kind and id: the primary key. */
  key: string
  /** JSON. */
  payload: string
  uid: string | null
  grant_id: string | null
  consumed_at: number | null
  expires_at: number | null
}

/** Work that goes on after its request was answered. */
export interface JobsTable {
  id: string
  /** The id of its database. */
  database: string
  collection: string
  kind: string
  state: string
  /** JSON. */
  request: string
  /** The document after which it goes on; of an ended listing, the last document that it looked at. */
  cursor: string | null
  /** How many documents it has gone through, of `total` where that is known. */
  done: number
  total: number | null
  /** How many of them it has taken. */
  found: number
  /** JSON. */
  failure: string | null
  /** 1 where nothing is left to be tidied away once it has ended. */
  clean: number
  claimed_by: string
  claimed_until: number
  created_at: number
  updated_at: number
}

/** What a job has made of documents, and what nobody sees before it ends. */
export interface JobDocumentsTable {
  job: string
  id: string
  /** The tag of the state that the job has looked at. */
  seen: string
  tag: string
  body: string
}

/** Single values of the store, such as the id of this installation. */
export interface SettingsTable {
  name: string
  value: string
}

/**
 * Every table, as Kysely needs to know them; times are milliseconds since 1970, UTC. What really
 * exists is made in `migrations/`.
 */
export interface Tables {
  endpoints: EndpointsTable
  databases: DatabasesTable
  nodes: NodesTable
  node_listeners: NodeListenersTable
  documents: DocumentsTable
  jobs: JobsTable
  job_documents: JobDocumentsTable
  schemas: SchemasTable
  counters: CountersTable
  people: PeopleTable
  sessions: SessionsTable
  sign_ins: SignInsTable
  tokens: TokensTable
  audit: AuditTable
  audit_head: AuditHeadTable
  failures: FailuresTable
  local_provider: LocalProviderTable
  settings: SettingsTable
}
