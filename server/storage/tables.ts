/** An address that Gatehouse listens on, and what can be reached through it. */
export interface EndpointsTable {
  /** The canonical address: the primary key, ordered by code point on both engines. */
  address: string
  /** A JSON array of database names, in order; `[]` stands for every database. */
  databases: string
  /** The store-wide revision at which this row last changed. */
  revision: number
}

/** A named set of collections. */
export interface DatabasesTable {
  /** The primary key, ordered by code point on both engines. */
  name: string
  /** Milliseconds since 1970, UTC. */
  created_at: number
}

/** Numbers that only grow; raised by `next-revision.ts`. */
export interface CountersTable {
  name: 'revision'
  value: number
}

/** Every table, as Kysely needs to know them. What really exists is made in `migrations/`. */
export interface Tables {
  endpoints: EndpointsTable
  databases: DatabasesTable
  counters: CountersTable
}
