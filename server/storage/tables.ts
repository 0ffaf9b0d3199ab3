// The columns of every table after all migrations, in one file: they are the type of the database for
// Kysely.

import type { Generated } from 'kysely'

/** An address that Gatehouse listens on, and the databases that it serves. */
export interface EndpointsTable {
  /** The canonical address. Primary key, ordered by code point on both engines. */
  address: string
  /** JSON array of database names, in order. `[]` means every database. */
  databases: string
  /** Store-wide revision of the last change to this row. */
  revision: number
  /**
   * JSON: the pending proposal of the endpoint; null once a node listens on it. See `proposals.ts`.
   */
  proposal: Generated<string | null>
  proposed_at: Generated<number | null>
}

/** The policy of an address, which may not be an endpoint yet. */
export interface PoliciesTable {
  /** Primary key, as in `endpoints`. */
  address: string
  /** JSON: a `Policy`. Null after it was removed from an endpoint, so that other nodes notice. */
  policy: string | null
  /** Store-wide revision of the last change to this row. */
  policy_revision: number
  /** JSON: a `Trial`; null unless the policy is being tried. */
  trial: string | null
}

/** A certificate of endpoints. */
export interface CertificatesTable {
  /** Primary key, ordered by code point on both engines. */
  name: string
  /** `upload`, `file`, `local`, `acme`. */
  kind: string
  /** Store-wide revision of the last change to this row. */
  revision: number
  /** JSON: what the kind needs, such as paths or names. Nothing secret. */
  settings: string
  /** The chain as PEM, the certificate first; null if nodes read it from files. */
  certificate: string | null
  /** JSON: a `CertificateInfo`, with `certificate`. */
  info: string | null
  /** JSON: the key, or a PKCS #12 file and its passphrase. Encrypted by the vault. */
  secret: string | null
  /** JSON: the order of the kind `acme` (an `Order`), whose changes do not raise `revision`. */
  acme: string | null
}

/** An answer to an ACME challenge, which any node gives. */
export interface AcmeChallengesTable {
  /** Primary key. */
  token: string
  /** The name of the certificate that is ordered. */
  certificate: string
  /** The DNS name or IP address that is validated. */
  name: string
  /** `http-01`, `tls-alpn-01`. */
  kind: string
  /** The key authorization (RFC 8555 §8.1). */
  answer: string
  expires_at: number
}

/** A running node that shares the store. */
export interface NodesTable {
  /** Primary key. */
  name: string
  /** Random id, new at each start. */
  run: string
  /**
   * Identifies the machine and its network. Two nodes with the same value cannot listen on the same
   * port.
   */
  place: string
  started_at: number
  /** Time of the last heartbeat, by the clock of the database. */
  seen_at: number
  /** Report number, incremented with each change that the node reports. */
  report: number
  /** Number of listeners of the node. */
  listeners: number
}

/** A listener, as reported by its node. Primary key: node and id. */
export interface NodeListenersTable {
  node: string
  /** Assigned by the node. */
  id: number
  address: string
  state: string
  /** Number of the last report that included this listener. */
  report: number
  /** JSON: a `ListenerStatus`. */
  status: string
  /** Command from another node, `retry` or `close`; null if there is none. */
  asked: string | null
}

export interface DatabasesTable {
  /** Primary key, ordered by code point on both engines. */
  name: string
  /** Milliseconds since 1970, UTC. */
  created_at: number
  /** Identifies the database in other tables. Never reused. */
  id: Generated<string>
}

/** A JSON document. Primary key: database, collection and id, ordered by code point. */
export interface DocumentsTable {
  /** Id of the database, not its name. */
  database: string
  collection: string
  id: string
  /** Identifies the current version. Changes with each write. */
  tag: string
  /** JSON, including `id`. */
  body: string
}

/** The JSON Schema of a collection. Primary key: database and collection. */
export interface SchemasTable {
  /** Id of the database, not its name. */
  database: string
  collection: string
  /** Identifies the current version. Changes with each write and is never reused. */
  tag: string
  /** JSON. */
  body: string
}

/** An index of a collection. */
export interface DocumentIndexesTable {
  /** Primary key. The revision of its creation, so it is never reused. */
  id: number
  /** Id of the database, not its name. */
  database: string
  collection: string
  name: string
  /** JSON array of fields, in the form of the parameter `sort`. */
  fields: string
  is_unique: number
  /** `building`, `ready`, `failed` or `dropped`. */
  state: string
  /** Id of the last document that the build has indexed; null before the first one. */
  cursor: string | null
  /** Number of documents that the build has indexed, out of `total` if that is known. */
  done: number
  total: number | null
  /** JSON (`definition.ts`): documents with the same values in a unique index. */
  duplicates: string | null
  created_at: number
}

/** A document in an index. Primary key: index, key and id. */
export interface IndexEntriesTable {
  index_id: number
  /** Sorts byte by byte in the order of the indexed values. */
  key: Uint8Array
  /** Id of the document. */
  id: string
  /** Hash of the values in a unique index (`Entry.uniqueKey`); null in all other cases. */
  sole: Uint8Array | null
}

/** The feed of the changes of a collection. Unique: database and collection. */
export interface FeedsTable {
  /** Primary key. The revision at which it was turned on, so it is never reused. */
  id: number
  /** Id of the database, not its name. */
  database: string
  collection: string
  /** Begins positions, so that those of an earlier feed or store are recognized. */
  epoch: string
  /** How long changes are kept, ms. */
  retain: number
  /** Number of the last change that was removed. Those after it, up to `last`, are kept. */
  first: number
  last: number
  /** Size of the changes that are kept. */
  bytes: number
}

/**
 * Changes of a feed, written by triggers. A row is one change on SQLite, with columns `id`, `tag` and
 * `body`; on PostgreSQL `count` changes, with arrays.
 */
export interface FeedEntriesTable {
  feed: number
  /** Number of the last change of the row. */
  last: number
  at: number
  bytes: number
  /** `created`, `replaced` or `deleted`. */
  change: string
}

/** Counters that only increase. `changes/begin-change.ts` increments them. */
export interface CountersTable {
  name: 'revision'
  value: number
}

/** A person who has signed in, identified by provider, issuer and subject together. */
export interface PeopleTable {
  /** Random UUID. Primary key. */
  id: string
  provider: string
  /** The issuer, or the token endpoint if the provider has no issuer. */
  issuer: string
  /** The person's id at the provider. */
  subject: string
  /** `<provider>:<subject>`. */
  username: string
  /** Display name from the provider. */
  name: string | null
  role: string
  /** JSON array of the databases that the role is limited to; null: all. */
  databases: string | null
  /** What set the role: `admin` or `groups`; null: neither, such as `GATEHOUSE_ADMINS`. */
  role_source: string | null
  created_at: number
  last_sign_in_at: number | null
  /** Access token of the provider from the last sign-in, encrypted. */
  access_token: string | null
}

/** A session. Only the hash of the secret in the cookie is stored. */
export interface SessionsTable {
  /** SHA-256 of the secret, in hexadecimal. Primary key. */
  hash: string
  /** Identifies the session in listings and when it is revoked. */
  id: string
  person_id: string
  created_at: number
  last_seen_at: number
  /** Absolute expiry, independent of activity. */
  expires_at: number
  address: string | null
  user_agent: string | null
  /** Fingerprint of the operator key that started the session; null for other providers. */
  operator_key: string | null
  /** Access token of the provider, encrypted. */
  access_token: string | null
}

/** A sign-in in progress, from its start to its callback. */
export interface SignInsTable {
  /** SHA-256 of the CSRF token, in hexadecimal. Primary key. */
  hash: string
  provider: string
  form: string
  /** Redirect URI in the authorization request. */
  redirect_uri: string
  /** Redirect URI in the token request. */
  exchange_uri: string
  /** PKCE code verifier (RFC 7636), encrypted. */
  verifier: string
  nonce: string | null
  return_to: string
  expires_at: number
  /** Revision of the managed provider at the start; 0 for other providers. */
  provider_revision: Generated<number>
  /** The id of the invitation to accept. */
  invitation: string | null
  /** The id of the test of a provider, which makes no session. */
  test: string | null
}

/** A provider that admins manage. */
export interface ProvidersTable {
  /** Primary key, ordered by code point on both engines. */
  name: string
  /** Store-wide revision of the last change to this row. */
  revision: number
  /** JSON: `ProviderSettings` and the callback form. Nothing secret. */
  settings: string
  /** The client secret, encrypted by the vault. */
  secret: string
}

/** A test of a provider by an admin. */
export interface ProviderTestsTable {
  /** Primary key. Whoever knows it can open the test. */
  id: string
  provider: string
  /** `waiting`, `started`, `passed`, `failed`. */
  state: string
  /** JSON: the steps so far. */
  steps: string
  expires_at: number
}

/** An invitation, which gives access to the first person who signs in with it. */
export interface InvitationsTable {
  /** Primary key. */
  id: string
  /** SHA-256 of the token in its URL, in hexadecimal. */
  hash: string
  provider: string
  role: string
  /** JSON array of database names; null: all. */
  databases: string | null
  /** The admin, who must still be one when it is accepted. */
  creator_id: string
  created_at: number
  expires_at: number
  /** When it was accepted. */
  used_at: number | null
  /** The invited person, as the admin describes them. */
  note: string | null
}

export interface TokensTable {
  id: string
  name: string
  /** First characters of the token, shown to identify it. */
  prefix: string
  /** SHA-256 of the token, in hexadecimal. */
  hash: string
  owner_id: string
  role: string
  /** JSON array of database names; null means every database. */
  databases: string | null
  created_at: number
  expires_at: number | null
  last_used_at: number | null
}

/** An entry of the audit log. The hash of each row covers the previous row. */
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
  /** Id of the bulk change that this entry belongs to. */
  change: string | null
  /** Name of the token of the caller; null if there was none. */
  token: Generated<string | null>
  hash: string
}

/**
 * Sequence number and hash of the last row of the audit log. Writers lock it to serialize appends.
 * One row, with `id` 1.
 */
export interface AuditHeadTable {
  id: number
  seq: number
  hash: string
}

/** Number of failed attempts in the current period, by key. */
export interface FailuresTable {
  key: string
  count: number
  expires_at: number
}

/** Sessions, codes and grants of the local provider. */
export interface LocalProviderTable {
  /** Primary key: kind and id. */
  key: string
  /** JSON. */
  payload: string
  uid: string | null
  grant_id: string | null
  consumed_at: number | null
  expires_at: number | null
}

/** A background job, which continues after its request is answered. */
export interface JobsTable {
  id: string
  /** Id of the database. */
  database: string
  collection: string
  kind: string
  state: string
  /** JSON. */
  request: string
  /** Id of the last document processed, from which the job resumes. */
  cursor: string | null
  /** Number of documents processed, out of `total` if that is known. */
  done: number
  total: number | null
  /** Number of processed documents that the job lists or changes. */
  found: number
  /** JSON. */
  failure: string | null
  /** JSON: what an import has done so far. */
  result: string | null
  /** 1 if no cleanup remains after the job ends. */
  clean: number
  claimed_by: string
  claimed_until: number
  created_at: number
  updated_at: number
  /** Id of the caller (`Caller`); null if it is unknown. */
  created_by: string | null
}

/** Result of a job for one document. Not visible to readers before the job is committed. */
export interface JobDocumentsTable {
  job: string
  id: string
  /** Tag of the version that the job read. */
  seen: string
  tag: string
  body: string
}

export interface WebhooksTable {
  id: string
  name: string
  /** Id of the database. */
  database: string
  url: string
  /** Query string with filters and `fields`. */
  filter: string
  /** Encrypted; null after all secrets were discarded. */
  secret: string | null
  /** The secret before the current one, encrypted. */
  previous_secret: string | null
  /** Until when requests are signed with the previous secret, too. */
  previous_until: number | null
  /** 1 if nothing is delivered. */
  paused: number
  /** Why it is paused, for people. */
  reason: string | null
  /** Time of the first of the failed attempts since the last successful one. */
  failing_since: number | null
  /** Number of these attempts. */
  attempts: number
  /** When the next attempt is due; in the past, when the last one ended. */
  retry_at: number
  /** JSON. */
  last_response: string | null
  /** Name of the person or token that created it. */
  creator: string
  created_at: number
  revision: number
}

/** How far a webhook has delivered the changes of a collection. */
export interface WebhookPositionsTable {
  webhook: string
  collection: string
  /** Epoch of the feed. */
  epoch: string
  /** Number of the last delivered change. */
  number: number
  /** Number of the last change of the message that failed and is sent again. */
  pending: number | null
  /** When this message was first sent. */
  pending_at: number | null
}

/** A message of a webhook, for people and to deliver it again. */
export interface WebhookDeliveriesTable {
  id: string
  webhook: string
  /** When it was first sent. */
  at: number
  /** Null for a test. */
  collection: string | null
  epoch: string
  /** Numbers between which its changes are. */
  after: number
  upto: number
  attempts: number
  /** JSON. */
  request: string
  /** JSON. */
  outcome: string
}

/** What a node counted in a minute. Deleted after 24 h. */
export interface TrafficMinutesTable {
  /** The canonical address; empty: all endpoints. */
  endpoint: string
  /** Minutes since 1970. */
  minute: number
  node: string
  /** JSON: an array of numbers, `Traffic.takeCounts`. */
  counts: string
  /** Of all endpoints: how many listened when the minute ended. */
  open: number
}

/** Named values of the store, such as the id of this installation. */
export interface SettingsTable {
  name: string
  value: string
}

/**
 * Types of all tables, for Kysely. The migrations in `migrations/` define the actual schema. Times
 * are milliseconds since 1970, UTC.
 */
export interface Tables {
  endpoints: EndpointsTable
  policies: PoliciesTable
  certificates: CertificatesTable
  acme_challenges: AcmeChallengesTable
  databases: DatabasesTable
  nodes: NodesTable
  node_listeners: NodeListenersTable
  documents: DocumentsTable
  jobs: JobsTable
  job_documents: JobDocumentsTable
  schemas: SchemasTable
  document_indexes: DocumentIndexesTable
  index_entries: IndexEntriesTable
  feeds: FeedsTable
  feed_entries: FeedEntriesTable
  webhooks: WebhooksTable
  webhook_positions: WebhookPositionsTable
  webhook_deliveries: WebhookDeliveriesTable
  traffic_minutes: TrafficMinutesTable
  counters: CountersTable
  people: PeopleTable
  sessions: SessionsTable
  sign_ins: SignInsTable
  providers: ProvidersTable
  provider_tests: ProviderTestsTable
  invitations: InvitationsTable
  tokens: TokensTable
  audit: AuditTable
  audit_head: AuditHeadTable
  failures: FailuresTable
  local_provider: LocalProviderTable
  settings: SettingsTable
}
