import * as z from 'zod/mini'
import { exact } from './exact.ts'

/** Maximum number of certificates in the store. */
export const CERTIFICATES = 1_000

/** Maximum size of a certificate chain or a key as PEM, or of a PKCS #12 file, bytes. */
export const CERTIFICATE_BYTES = 256 * 1024

/** Maximum number of certificates in a chain, and of names in a certificate of the local authority. */
export const CHAIN_LENGTH = 16
export const CERTIFICATE_NAMES = 100

/** The certificate of `ssl` endpoints whose policy names none. */
export const DEFAULT_CERTIFICATE = 'default'

export const certificateName = z
  .string()
  .check(
    z.regex(
      /^[a-z0-9][a-z0-9._-]{0,63}$/,
      'must be 1 to 64 lower-case letters, digits, ".", "_" or "-"',
    ),
  )

const KINDS = 'must be "upload", "file", "local" or "acme"'

export const certificateKind = z
  .enum(['upload', 'file', 'local', 'acme'], KINDS)
  .check(
    z.describe(
      'upload: the certificate and its key, encrypted in the store; file: files of each node; ' +
        'local: issued and renewed by the authority of this server; ' +
        'acme: ordered from the configured ACME directory and renewed',
    ),
  )

const PEM_SIZE = z.maxLength(CERTIFICATE_BYTES, 'must not be larger than 256 KiB')

const path = z
  .string()
  .check(
    z.maxLength(4_096),
    z.regex(/^\/[^\0]*$/, 'must be an absolute path'),
    z.describe('an absolute path'),
  )

/** Paths of a certificate chain and its key, PEM. */
export const certificateFiles = z.strictObject({ certificate: path, key: path })

export type CertificateFiles = z.infer<typeof certificateFiles>

const upload = {
  kind: z.literal('upload'),
  certificate: z.optional(
    z.string().check(PEM_SIZE, z.describe('the certificate and its chain, PEM')),
  ),
  key: z.optional(z.string().check(PEM_SIZE, z.describe('the private key, PEM'))),
  pfx: z.optional(
    z
      .string()
      .check(
        z.maxLength(Math.ceil(CERTIFICATE_BYTES / 3) * 4, 'must not be larger than 256 KiB'),
        z.describe('instead of both: a PKCS #12 file, base64'),
      ),
  ),
  passphrase: z.optional(
    z.string().check(z.maxLength(1_024), z.describe('of the key or of the PKCS #12 file')),
  ),
}

const file = { kind: z.literal('file'), certificate: path, key: path }

const namesOf = (description: string) =>
  z
    .array(z.string().check(z.maxLength(255)))
    .check(
      z.minLength(1, 'must name a host'),
      z.maxLength(CERTIFICATE_NAMES, 'at most 100 names'),
      z.describe(description),
    )

const local = {
  kind: z.literal('local'),
  names: namesOf('DNS names and IP addresses, such as localhost and 192.0.2.1'),
}

/** How the ACME directory validates names (RFC 8555 §8.3, RFC 8737). */
export const acmeChallenge = z
  .enum(['http-01', 'tls-alpn-01'], 'must be "http-01" or "tls-alpn-01"')
  .check(
    z.describe(
      'http-01, the default: over HTTP on port 80; tls-alpn-01: on the ssl endpoint itself, ' +
        'which clients reach on port 443',
    ),
  )

const acme = {
  kind: z.literal('acme'),
  names: namesOf('DNS names without wildcards; with http-01 also IP addresses'),
  challenge: z.optional(acmeChallenge),
}

/** Body of `PUT /_api/certificate/<name>`. */
export const certificateInput = z.discriminatedUnion(
  'kind',
  [exact(upload), exact(file), exact(local), exact(acme)],
  KINDS,
)

export type CertificateInput = z.infer<typeof certificateInput>

/** Body of `POST /_api/certificate`. */
export const newCertificate = z.discriminatedUnion(
  'kind',
  [
    exact({ name: certificateName, ...upload }),
    exact({ name: certificateName, ...file }),
    exact({ name: certificateName, ...local }),
    exact({ name: certificateName, ...acme }),
  ],
  KINDS,
)

/** What a certificate says. */
export const certificateInfo = z.object({
  names: z.array(z.string()).check(z.describe('DNS names and IP addresses')),
  issuer: z.string(),
  notBefore: z.string(),
  notAfter: z.string(),
  fingerprint: z.string().check(z.describe('SHA-256, hexadecimal')),
  serial: z.string().check(z.describe('hexadecimal')),
  keyType: z.string().check(z.describe('such as EC P-256 or RSA 2048')),
})

export type CertificateInfo = z.infer<typeof certificateInfo>

/** The state of the order of a certificate from an ACME directory. */
export const certificateOrder = z.object({
  state: z
    .enum(['pending', 'valid', 'failed'])
    .check(
      z.describe(
        'pending: ordered or about to be; valid: issued; failed: the last attempt failed, and ' +
          'the previous certificate, if there is one, stays in use',
      ),
    ),
  reason: z.optional(z.string().check(z.describe('why the last attempt failed'))),
  nextAttempt: z.optional(z.string().check(z.describe('after a failure, ISO 8601, UTC'))),
})

/** A certificate in a list. Its key is never given out. */
export const certificateRecord = z.object({
  name: z.string(),
  kind: certificateKind,
  revision: z.int().check(z.describe('for If-Match; 0 for a certificate of the command line')),
  current: z
    .nullable(certificateInfo)
    .check(z.describe('null if this node could not read the files yet, or it was not issued yet')),
  endpoints: z.array(z.string()).check(z.describe('the endpoints whose policy uses it')),
  files: z.optional(certificateFiles.check(z.describe('of the kind file'))),
  names: z.optional(z.array(z.string()).check(z.describe('of the kind acme: the ordered names'))),
  challenge: z.optional(acmeChallenge),
  order: z.optional(certificateOrder),
  renewal: z.optional(z.string().check(z.describe('when the server renews it, ISO 8601, UTC'))),
  error: z.optional(
    z
      .object({ message: z.string(), at: z.string() })
      .check(z.describe('why this node could not read or renew it; the previous one stays in use')),
  ),
  readOnly: z.optional(
    z.literal(true).check(z.describe('it comes from the command line of this node')),
  ),
})

export type CertificateRecord = z.infer<typeof certificateRecord>

/** Response of `GET /_api/certificate`, sorted by name. */
export const certificateList = z.array(certificateRecord)
