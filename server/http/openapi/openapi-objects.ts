/** An object of an OpenAPI 3.1 document. The tests lint the whole document. */
export type Described = Readonly<Record<string, unknown>>

/** An operation of a path. */
export interface Operation {
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly Described[]
  readonly requestBody?: Described
  readonly responses: Readonly<Record<string, Described>>
}

/** The components that descriptions of routes refer to. */
export interface Components {
  readonly schemas: Readonly<Record<string, Described>>
  readonly responses: Readonly<Record<string, Described>>
  readonly parameters: Readonly<Record<string, Described>>
}
