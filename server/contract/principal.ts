import type { Role } from './role.ts'

/** Whoever a request comes from, once its credentials are checked. */
export interface Principal {
  readonly personId: string
  /** `<provider>:<id>` */
  readonly username: string
  readonly name: string | null
  readonly provider: string
  /** In effect: of a token the lower of its own and its owner's. */
  readonly role: Role
  readonly by: 'session' | 'token'
  /** The scope of a token; null: every database. */
  readonly databases: readonly string[] | null
  /** The id of the session or token, by which it is listed and revoked. */
  readonly credential: string
  /** When it ends at the latest, ms since 1970; null: never. */
  readonly expires: number | null
  /** When it ends unless it is used, ms since 1970; null: a token. */
  readonly idleExpires: number | null
}
