/** Identifies a collection by the id of its database and its own name. */
export interface CollectionRef {
  readonly database: string
  readonly collection: string
}

export interface DocumentRef extends CollectionRef {
  readonly id: string
}
