import * as z from 'zod/mini'
import { exact } from '../exact.ts'
import { isoTime } from '../iso-time.ts'
import { role } from './principal.ts'
import { scopeInput } from './scope.ts'
import { PLAIN } from './token.ts'

/** Maximum number of providers that are managed with the API. */
export const MANAGED_PROVIDERS = 50

/** Maximum number of invitations that can be accepted. */
export const INVITATIONS = 500

/** Maximum lifetime of an invitation, ms: 30 days. */
export const INVITATION_LIFETIME = 30 * 24 * 60 * 60 * 1000

/** Lifetime of an invitation that names none, ms: 7 days. */
export const DEFAULT_INVITATION_LIFETIME = 7 * 24 * 60 * 60 * 1000

/** Maximum length of the note of an invitation, characters. */
export const INVITATION_NOTE = 200

/** The kinds of providers, which are also the names of those of the environment. */
export const PROVIDER_KINDS = ['github', 'google', 'facebook', 'oidc', 'oauth2'] as const

export type ProviderKind = (typeof PROVIDER_KINDS)[number]

/** The providers of each kind, as people know them. */
export const PROVIDER_LABELS: Readonly<Record<ProviderKind, string>> = {
  github: 'GitHub',
  google: 'Google',
  facebook: 'Facebook',
  oidc: 'Single sign-on',
  oauth2: 'OAuth 2.0',
}

/** Ways to pass the CSRF token and the callback URL to a provider. See `sign-in.ts`. */
export const CALLBACK_FORMS = ['csrf-in-url', 'csrf-in-url-identical', 'exact'] as const

export type CallbackForm = (typeof CALLBACK_FORMS)[number]

/**
 * Whether a URL uses https, or http on loopback, without credentials or a fragment: client secrets
 * and tokens are sent to it.
 */
export function isProviderUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || url.username !== '' || url.password !== '' || url.hash !== '')
    return false
  const isLoopback = /^(?:localhost|127\.[0-9.]+|\[::1\])$/.test(url.hostname)
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback)
}

/** Names that are other paths, or the built-in provider. */
const RESERVED = ['local', 'setup', 'invitation']

export const providerName = z.string().check(
  z.regex(
    /^[a-z][a-z0-9-]{0,31}$/,
    // The name is a part of paths and usernames.
    'must begin with a lower-case letter, and have up to 32 lower-case letters, digits and “-”',
  ),
  z.refine((name) => !RESERVED.includes(name), 'must not be local, setup or invitation'),
)

const line = (max: number) =>
  z
    .string()
    .check(
      z.regex(/\S/, 'must not be empty'),
      z.maxLength(max, `at most ${max.toLocaleString('en')} characters`),
      z.regex(PLAIN, 'must be a single line without control and direction characters'),
    )

const url = line(2_048).check(
  z.refine(isProviderUrl, 'must be a URL with https (http for this machine only)'),
)

const common = {
  label: z.optional(
    line(64).check(z.describe('the name on the button; default: that of the kind')),
  ),
  clientId: line(512),
  clientSecret: z.optional(
    line(2_048).check(
      z.describe('never returned; can be omitted to keep it if no endpoint changes'),
    ),
  ),
}

const preset = {
  kind: z.enum(['github', 'google', 'facebook']),
  ...common,
}

const oidc = {
  kind: z.literal('oidc'),
  ...common,
  issuer: url.check(z.describe('whose metadata has the endpoints')),
}

const oauth2 = {
  kind: z.literal('oauth2'),
  ...common,
  authEndpoint: url,
  tokenEndpoint: url,
  activeUserEndpoint: url.check(z.describe('returns JSON with the id of the person')),
  callback: z.optional(
    z.enum(CALLBACK_FORMS).check(z.describe('the callback form; default csrf-in-url')),
  ),
}

const KINDS = `must be one of ${PROVIDER_KINDS.join(', ')}`

/** Body of `PUT /_api/provider/<name>`. */
export const providerInput = z.discriminatedUnion(
  'kind',
  [exact(preset), exact(oidc), exact(oauth2)],
  KINDS,
)

export type ProviderInput = z.infer<typeof providerInput>

const name = { name: providerName }

/** Body of `POST /_api/provider`. */
export const newProvider = z.discriminatedUnion(
  'kind',
  [exact({ ...name, ...preset }), exact({ ...name, ...oidc }), exact({ ...name, ...oauth2 })],
  KINDS,
)

/** What is stored of a managed provider, besides its secret. */
export const providerSettings = z.object({
  kind: z.enum(PROVIDER_KINDS),
  label: z.string(),
  clientId: z.string(),
  issuer: z.optional(z.string()),
  authEndpoint: z.optional(z.string()),
  tokenEndpoint: z.optional(z.string()),
  activeUserEndpoint: z.optional(z.string()),
  callback: z.optional(z.enum(CALLBACK_FORMS)),
})

export type ProviderSettings = z.infer<typeof providerSettings>

/** A provider as admins see it, without its secret. */
export const providerSetup = z.object({
  name: z.string(),
  label: z.string(),
  form: z.enum(CALLBACK_FORMS),
  callback: z.nullable(
    z
      .string()
      .check(z.describe('register this callback URL with the provider; null without --public-url')),
  ),
  source: z
    .enum(['environment', 'managed', 'built-in'])
    .check(z.describe('only managed providers can be changed')),
  revision: z.int().check(z.describe('for If-Match; 0 if it is not managed')),
  settings: z.optional(
    providerSettings.check(z.describe('of a managed provider, without its secret')),
  ),
})

export type ProviderSetup = z.infer<typeof providerSetup>

/** Response of `GET /_api/provider/setup`, for admins. */
export const providerSetupList = z.array(providerSetup)

export type ProviderSetupList = z.infer<typeof providerSetupList>

/** The steps of a test, in order. */
export const TEST_STEPS = ['start', 'response', 'exchange'] as const

/** A test of a provider: a sign-in that makes no session. */
export const providerTest = z.object({
  id: z.string(),
  provider: z.string(),
  state: z
    .enum(['waiting', 'started', 'passed', 'failed'])
    .check(z.describe('waiting: its URL was not opened yet')),
  steps: z.array(
    z.object({
      name: z
        .enum(TEST_STEPS)
        .check(
          z.describe(
            'start: the redirect to the provider; response: its response to the browser; ' +
              'exchange: the code exchanged and the person identified',
          ),
        ),
      outcome: z.enum(['done', 'failed']),
      detail: z.string(),
      requests: z.array(z.string()).check(z.describe('the requests of the server, with statuses')),
    }),
  ),
  expires: z.string(),
})

export type ProviderTest = z.infer<typeof providerTest>

/** Response of `POST /_api/provider/<name>/test`, 201. */
export const startedTest = z.object({
  id: z.string(),
  url: z.string().check(z.describe('the path to open in a browser, once')),
})

/** Body of `POST /_api/invitation`. */
export const invitationInput = exact({
  provider: z.string().check(z.describe('the provider with which the person must sign in')),
  role: z.enum(['viewer', 'editor', 'operator', 'admin'], 'viewer, editor, operator or admin'),
  databases: z.optional(
    scopeInput.check(z.describe('databases that the role is limited to; null or omitted for all')),
  ),
  expires: z.optional(isoTime.check(z.describe('at most in 30 days; by default in 7 days'))),
  note: z.optional(
    line(INVITATION_NOTE).check(
      z.describe(
        'who is invited; in the list and the audit log, not on the page of the invitation',
      ),
    ),
  ),
})

export type InvitationInput = z.infer<typeof invitationInput>

/** An invitation in a list. Its URL is not stored. */
export const invitation = z.object({
  id: z.string(),
  provider: z.string(),
  role,
  databases: z.nullable(z.array(z.string())),
  creator: z.string().check(z.describe('the username of the admin')),
  created: z.string(),
  expires: z.string(),
  note: z.nullable(z.string()),
})

export type Invitation = z.infer<typeof invitation>

/** Response of `GET /_api/invitation`: those that can be accepted, newest first. */
export const invitationList = z.array(invitation)

/** Response of `POST /_api/invitation`, 201. The URL is shown only here. */
export const createdInvitation = z.object({ url: z.string(), invitation })
