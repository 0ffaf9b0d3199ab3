/** Identifies a collection by the id of its database and its own name. */
export interface CollectionRef {
  readonly database: string
  readonly collection: string
}

export interface DocumentRef extends CollectionRef {
  readonly id: string
}

/** Thrown if documents have changed since they were read. */
export class StateChanged extends Error {}

/** Thrown if documents and their index entries are too many for one transaction. */
export class TooManyRows extends Error {}
