import type { Role } from './role.ts'

/** The authenticated caller of a request. */
export interface Principal {
  readonly personId: string
  /** `<provider>:<id>` */
  readonly username: string
  readonly name: string | null
  readonly provider: string
  /** The effective role; for a token, the lower of its own and its owner's. */
  readonly role: Role
  readonly by: 'session' | 'token'
  /** The scope of a token; null: every database. */
  readonly databases: readonly string[] | null
  /** The id of the session or token, as listed and revoked. */
  readonly credential: string
  /** When it expires, ms since 1970; null: never. */
  readonly expires: number | null
  /** When it expires unless it is used, ms since 1970; null: a token. */
  readonly idleExpires: number | null
}
