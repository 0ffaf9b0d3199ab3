import * as z from 'zod/mini'
import { type Scope, scopeInput } from './scope.ts'

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
  /** The databases that the caller may use: those of the person and of the token; null: all. */
  readonly databases: Scope
  /** The id of the session or token, as listed and revoked. */
  readonly credential: string
  /** The name of the token; null: a session. */
  readonly tokenName: string | null
  /** When it expires, ms since 1970; null: never. */
  readonly expires: number | null
  /** When it expires unless it is used, ms since 1970; null: a token. */
  readonly idleExpires: number | null
}

/** Roles of people and tokens, lowest first; each role includes the permissions of lower ones. */
export const ROLES = ['none', 'pending', 'viewer', 'editor', 'operator', 'admin'] as const

/**
 * A role: `none` has no access and cannot sign in, `pending` waits for a role, `viewer` reads,
 * `editor` also writes documents, `operator` also changes endpoints and databases, `admin` also
 * manages people.
 */
export const role = z
  .enum(ROLES)
  .check(
    z.describe(
      'none: access removed, cannot sign in; pending: waits for a role; viewer: reads; ' +
        'editor: also writes documents, indexes and schemas; operator: also changes endpoints ' +
        'and databases; admin: also people and tokens',
    ),
  )

export type Role = z.infer<typeof role>

/** A role other than `none`. Every signed-in person and every token has one. */
export type AccessRole = Exclude<Role, 'none'>

/** Returns whether a role includes the permissions of another. */
export const atLeast = (has: Role, needed: Role): boolean =>
  ROLES.indexOf(has) >= ROLES.indexOf(needed)

/** Returns the lower of two roles. */
export const lowerRole = (a: Role, b: Role): Role => (atLeast(a, b) ? b : a)

/** What can set the role of a person: an admin, or the groups that their provider reports. */
export const roleSource = z.enum(['admin', 'groups'])

/** A person who has signed in at least once. `GET /_api/user` lists pending people first. */
export const person = z.object({
  id: z.string(),
  username: z.string(),
  name: z.nullable(z.string()),
  provider: z.string(),
  issuer: z.string().check(z.describe('the issuer or token endpoint that the id comes from')),
  role,
  databases: z
    .nullable(z.array(z.string()))
    .check(z.describe('the databases that the role is limited to; null for all')),
  roleSource: z
    .nullable(roleSource)
    .check(z.describe('what set the role; null if neither an admin nor groups have')),
  created: z.string(),
  lastSignIn: z.nullable(z.string()),
  sessions: z.int().check(z.describe('open now')),
})

export const personList = z.array(person)

export type Person = z.infer<typeof person>

/** Body of `PATCH /_api/user/<id>`. Without `databases`, the limit stays. */
export const personChange = z.object({
  role,
  databases: z.optional(
    scopeInput.check(
      z.describe('databases that the role is limited to; null for all, omitted to keep the limit'),
    ),
  ),
  roleSource: z.optional(
    roleSource.check(
      z.describe('admin (default) keeps the role; groups may replace it at the next sign-in'),
    ),
  ),
})

export type PersonChange = z.infer<typeof personChange>

/** Name of the built-in provider. */
export const LOCAL_PROVIDER = 'local'

/** Label of its button on the sign-in page. */
export const LOCAL_PROVIDER_LABEL = 'Operator key'

/** The person who signs in with the operator key (docs/sign-in.md, "The operator key"). */
export const OPERATOR = {
  provider: LOCAL_PROVIDER,
  issuer: 'gatehouse',
  subject: 'operator',
  username: `${LOCAL_PROVIDER}:operator`,
} as const
