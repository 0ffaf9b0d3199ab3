import * as z from 'zod/mini'
import { certificateName } from '../certificate.ts'
import { exact } from '../exact.ts'
import { isoTime } from '../iso-time.ts'

/** Maximum number of addresses and ranges in `allow` and `deny` together. */
export const POLICY_RANGES = 1_000

/** Maximum number of collections that can be read without a credential, and of origins. */
export const POLICY_NAMES = 100

/** Maximum length of a note, characters. */
export const NOTE_LENGTH = 500

/** Duration of a trial of a policy, s. */
export const TRIAL_SECONDS = { shortest: 5, longest: 300 } as const

const count = (max: number) => z.int().check(z.minimum(1), z.maximum(max))

const ranges = z
  .array(z.string().check(z.maxLength(64)))
  .check(
    z.maxLength(POLICY_RANGES, 'at most 1,000 addresses'),
    z.describe('IP addresses and CIDR ranges, such as 192.0.2.0/24 or 2001:db8::/32'),
  )

/** `*`, or an origin as browsers send it. */
const origin = z.string().check(
  z.maxLength(256),
  z.refine(
    (text) => text === '*' || (/^https?:/.test(text) && URL.parse(text)?.origin === text),
    'must be * or an origin, such as https://app.example',
  ),
)

const cors = exact({
  origins: z.array(origin).check(z.minLength(1), z.maxLength(POLICY_NAMES)),
  maxAge: z.optional(
    z.int().check(z.minimum(0), z.maximum(86_400), z.describe('how long browsers may keep it, s')),
  ),
}).check(
  z.refine(({ origins }) => origins.length === 1 || !origins.includes('*'), {
    path: ['origins'],
    error: '* cannot be combined with other origins',
  }),
)

const rateLimit = exact({
  requestsPerSecond: z.number().check(z.minimum(0.01), z.maximum(100_000)),
  burst: z.optional(
    count(100_000).check(z.describe('requests at once; by default those of one second')),
  ),
  by: z.optional(
    z
      .enum(['client', 'token', 'endpoint'])
      .check(z.describe('whose requests are counted together; by default client')),
  ),
})

/** Maximum number of certificates of an endpoint, and of client certificates with a token. */
export const TLS_CERTIFICATES = 32
export const TLS_TOKENS = 1_000

/** Maximum size of the certificates that issue client certificates, characters of PEM. */
export const CLIENT_CA_LENGTH = 64 * 1024

/** A name in a client certificate: a URI, an email address or a DNS name, in characters that need no quotes. */
const san = z.string().check(
  z.maxLength(256),
  z.regex(
    /^[A-Za-z0-9._~:/?#@!$&()*+;=%-]+$/,
    'must be a DNS name, an email address or a URI, such as spiffe://example.org/backup',
  ),
  z.refine((text) => !/^[0-9.]+$/.test(text), 'must not be an IP address'),
)

const clientAuth = exact({
  ca: z
    .string()
    .check(
      z.maxLength(CLIENT_CA_LENGTH, 'must not be larger than 64 KiB'),
      z.describe('the certificates that issue client certificates, PEM'),
    ),
  mode: z
    .enum(['require', 'request'], 'must be "require" or "request"')
    .check(z.describe('require: connections without a valid client certificate are closed')),
  tokens: z.optional(
    z
      .array(
        exact({
          san: san.check(z.describe('a name in the client certificate')),
          token: z
            .string()
            .check(
              z.minLength(1),
              z.maxLength(64),
              z.describe('the id of the token that the certificate stands for'),
            ),
        }),
      )
      .check(
        z.maxLength(TLS_TOKENS),
        z.refine(
          (all) => new Set(all.map((each) => sanEntry(each.san))).size === all.length,
          'must not name a certificate twice',
        ),
      ),
  ),
})

/** Returns a name as the text form of `subjectAltName` of Node.js lists it, such as `DNS:example.org`. */
export const sanEntry = (name: string): string =>
  name.includes('://')
    ? `URI:${name}`
    : name.includes('@')
      ? `email:${name}`
      : `DNS:${name.toLowerCase()}`

const tls = exact({
  certificates: z
    .array(certificateName)
    .check(
      z.minLength(1, 'must name a certificate'),
      z.maxLength(TLS_CERTIFICATES, 'at most 32 certificates'),
      z.describe('chosen by the name that the client asks for; the first without one'),
    ),
  minVersion: z.optional(
    z
      .enum(['1.2', '1.3'], 'must be "1.2" or "1.3"')
      .check(z.describe('the lowest version of TLS; by default 1.2')),
  ),
  clientAuth: z.optional(clientAuth),
})

const fields = {
  enabled: z.optional(z.boolean().check(z.describe('false: the endpoint is closed'))),
  closesAt: z.optional(
    isoTime.check(z.describe('when the endpoint is removed, RFC 3339 with a zone')),
  ),
  note: z.optional(z.string().check(z.maxLength(NOTE_LENGTH, 'at most 500 characters'))),
  allow: z.optional(ranges),
  deny: z.optional(ranges),
  readOnly: z.optional(z.boolean()),
  anonymous: z.optional(
    z.union(
      [
        z.literal('none'),
        exact({
          read: z.union([
            z.literal(true),
            z
              .array(z.string().check(z.maxLength(64)))
              .check(z.minLength(1), z.maxLength(POLICY_NAMES)),
          ]),
        }),
      ],
      'must be "none", {"read": true} or {"read": ["articles"]}',
    ),
  ),
  administration: z.optional(
    z.boolean().check(z.describe('false: no console, sign-in and /_api except health')),
  ),
  cors: z.optional(cors),
  rateLimit: z.optional(rateLimit),
  maxConnections: z.optional(count(1_000_000)),
  maxBodyBytes: z.optional(
    z.int().check(z.minimum(1), z.maximum(Number.MAX_SAFE_INTEGER), z.describe('bytes')),
  ),
  tls: z.optional(tls.check(z.describe('certificates of an ssl endpoint; by default `default`'))),
}

/** The rules of an endpoint (docs/http-api.md, "Policies"). */
export const policy = exact(fields)

export type Policy = z.infer<typeof policy>

/** Matches a duration, such as 90s, 30m, 2h or 7d. */
const DURATION = /^[1-9][0-9]{0,6}[smhd]$/

/** Body of `PUT /_api/policy`. */
export const policyInput = exact({
  ...fields,
  closesIn: z.optional(
    z
      .string()
      .check(
        z.regex(DURATION, 'must be a duration, such as 90s, 30m, 2h or 7d'),
        z.describe('instead of closesAt: a duration from now, such as 2h'),
      ),
  ),
})

export type PolicyInput = z.infer<typeof policyInput>

/** Body of `POST /_api/policy-test`: a request, and the endpoint that would receive it. */
export const policyTestInput = exact({
  endpoint: z.string().check(z.minLength(1, 'must not be empty')),
  policy: z
    .optional(z.nullable(policyInput))
    .check(z.describe('a policy to test instead of the stored one; null for the defaults')),
  client: z
    .nullable(z.string().check(z.maxLength(64)))
    .check(z.describe('the IP address of the client; null for a client without one')),
  credential: z
    .union([
      z.enum(['none', 'invalid']),
      exact({ role: z.enum(['viewer', 'editor', 'operator', 'admin']) }),
      exact({ token: z.string().check(z.maxLength(256)) }),
    ])
    .check(z.describe('the credential of the request, or the role that it would have')),
  method: z.string().check(z.regex(/^[A-Z]{1,16}$/, 'must be a method, such as GET')),
  path: z
    .string()
    .check(z.maxLength(2_048), z.regex(/^\//, 'must begin with /'), z.describe('without a query')),
  origin: z.optional(z.string().check(z.maxLength(256))),
})

/** Response of `POST /_api/policy-test`. */
export const policyTestResult = z.object({
  rule: z
    .nullable(
      z.enum([
        'allow',
        'database',
        'administration',
        'cors',
        'path',
        'method',
        'credential',
        'role',
        'readOnly',
      ]),
    )
    .check(z.describe('the rule that decides; null if the request is admitted')),
  status: z.nullable(z.int().check(z.describe('of the response that the rule gives'))),
})

/** Query of `/_api/policy`. Without an address, `GET` returns all policies. */
export const policyQuery = z.object({
  endpoint: z.optional(
    z.string().check(z.minLength(1, 'must not be empty'), z.describe('the address')),
  ),
})

const trial = z.object({
  id: z.string().check(z.describe('for POST /_api/policy-trial/<id>/confirm')),
  until: z.string().check(z.describe('when the previous policy returns, ISO 8601, UTC')),
})

/** A policy with the endpoint that it belongs to. */
export const policyRecord = z.object({
  endpoint: z.string(),
  policy,
  revision: z.int().check(z.describe('for If-Match')),
  trial: z.optional(z.omit(trial, { id: true })),
})

export type PolicyRecord = z.infer<typeof policyRecord>

/** Response of `GET /_api/policy`, sorted by address. */
export const policyList = z.array(policyRecord)

/** Response to a policy that is tried (`try=60`). */
export const policyTrial = z.object({ ...trial.shape })
