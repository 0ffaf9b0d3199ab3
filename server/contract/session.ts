import * as z from 'zod/mini'
import { role } from './role.ts'

/** Who is signed in: answer of `GET /_api/session`, `null` when nobody is. */
export const currentSession = z.nullable(
  z.object({
    person: z.object({
      id: z.string(),
      username: z.string().check(z.describe('<provider>:<id>')),
      name: z.nullable(z.string().check(z.describe('as the provider calls the person'))),
      provider: z.string(),
      role,
    }),
    by: z.enum(['session', 'token']),
    expires: z.nullable(z.string().check(z.describe('when at the latest it ends, ISO 8601, UTC'))),
    idleExpires: z.nullable(z.string().check(z.describe('when it ends unless it is used'))),
  }),
)

/** {@link currentSession} as a type. */
export type CurrentSession = z.infer<typeof currentSession>

/** A session as it is listed on the page of its person; its id is not the secret in the cookie. */
export const sessionInfo = z.object({
  id: z.string(),
  created: z.string(),
  lastSeen: z.string(),
  expires: z.string(),
  address: z.nullable(z.string()),
  userAgent: z.nullable(z.string()),
  current: z.boolean(),
})

/** Answer of `GET /_api/user/<id>/session`, newest first. */
export const sessionList = z.array(sessionInfo)

/** {@link sessionInfo} as a type. */
export type SessionInfo = z.infer<typeof sessionInfo>

/** A way to sign in: answer of `GET /_api/provider`, in the order of the buttons. */
export const providerInfo = z.object({
  name: z
    .string()
    .check(z.describe('as it stands in paths: github, google, facebook, oidc, oauth2, local')),
  label: z.string().check(z.describe('as people call it')),
  start: z.string().check(z.describe('where a form POSTs to, to begin')),
})

/** A list of {@link providerInfo}. */
export const providerList = z.array(providerInfo)

/** {@link providerInfo} as a type. */
export type ProviderInfo = z.infer<typeof providerInfo>

/** What an admin sees of a provider: answer of `GET /_api/provider/setup`. */
export const providerSetupList = z.array(
  z.object({
    name: z.string(),
    label: z.string(),
    form: z.enum(['csrf-in-url', 'csrf-in-url-identical', 'exact']),
    callback: z.nullable(
      z.string().check(z.describe('the URL to register there; null: --public-url is missing')),
    ),
  }),
)

/** {@link providerSetupList} as a type. */
export type ProviderSetupList = z.infer<typeof providerSetupList>
