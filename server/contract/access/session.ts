import * as z from 'zod/mini'
import { role } from './principal.ts'

/** Response of `GET /_api/session`: the signed-in person, or `null`. */
export const currentSession = z.nullable(
  z.object({
    person: z.object({
      id: z.string(),
      username: z.string().check(z.describe('<provider>:<id>')),
      name: z.nullable(z.string().check(z.describe('the name of the person at the provider'))),
      provider: z.string(),
      role,
      databases: z
        .nullable(z.array(z.string()))
        .check(z.describe('the databases that the caller is limited to; null for all')),
    }),
    by: z.enum(['session', 'token']),
    expires: z.nullable(
      z.string().check(z.describe('the latest time at which it ends, ISO 8601, UTC')),
    ),
    idleExpires: z.nullable(z.string().check(z.describe('when it ends if it is not used'))),
    endpoint: z.string().check(z.describe('the address of the endpoint that received the request')),
  }),
)

export type CurrentSession = z.infer<typeof currentSession>

/** A session, as listed on its person's page; its id is not the secret in the cookie. */
const sessionInfo = z.object({
  id: z.string(),
  created: z.string(),
  lastSeen: z.string(),
  expires: z.string(),
  address: z.nullable(z.string()),
  userAgent: z.nullable(z.string()),
  current: z.boolean(),
})

/** Response of `GET /_api/user/<id>/session`, newest first. */
export const sessionList = z.array(sessionInfo)

export type SessionInfo = z.infer<typeof sessionInfo>

/** A sign-in provider. `GET /_api/provider` lists them in button order. */
const providerInfo = z.object({
  name: z.string().check(z.describe('the name in paths, such as github or local')),
  label: z.string().check(z.describe('the name shown to people')),
  start: z.string().check(z.describe('the URL to POST a form to, to start the sign-in')),
})

export const providerList = z.array(providerInfo)

export type ProviderInfo = z.infer<typeof providerInfo>

/** Idle timeout of a session, ms: 12 h. */
export const SESSION_IDLE = 12 * 60 * 60 * 1000

/** Minimum interval between two recorded uses of a session, ms. */
export const USE_RECORD_INTERVAL = 60_000

/** Minimum interval between two recorded uses of a token, ms. People check it before they revoke. */
export const TOKEN_RECORD_INTERVAL = 5_000

/**
 * Header of automatic requests of an open page. Such a request does not count as use of the
 * session, because it does not show that a person is present.
 */
export const BACKGROUND_HEADER = 'x-gatehouse-background'

/**
 * Response header of `GET /_api/session`: the id of the last event before the response. A page that
 * reads its data after this response misses no change if it follows the events from this id.
 */
export const LAST_EVENT_HEADER = 'Gatehouse-Last-Event'
