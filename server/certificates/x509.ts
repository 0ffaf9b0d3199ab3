// Loaded on demand: a node without certificates does not need these packages.
import 'reflect-metadata'
import { createPrivateKey, KeyObject, type webcrypto } from 'node:crypto'
import { isIP } from 'node:net'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509'

cryptoProvider.set(crypto)

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

const DAY = 86_400_000

/** Lifetimes, ms. Browsers accept at most 397 days from a public authority. */
const AUTHORITY_LIFETIME = 3_650 * DAY
const LEAF_LIFETIME = 90 * DAY

/** Clocks of clients may be slow, ms. */
const CLOCK_SKEW = 3_600_000

/** A certificate and its private key, PEM. */
export interface KeyPair {
  readonly certificate: string
  readonly key: string
}

/** Returns the names and the issuer of a certificate in DER; undefined if it is malformed. */
export function readCertificate(der: Uint8Array): { names: string[]; issuer: string } | undefined {
  try {
    const certificate = new X509Certificate(new Uint8Array(der))
    const names = certificate.getExtension(SubjectAlternativeNameExtension)?.names.toJSON() ?? []
    const { issuerName } = certificate
    const [issuer = certificate.issuer] = [
      ...issuerName.getField('CN'),
      ...issuerName.getField('O'),
    ]
    return {
      names: names.flatMap(({ type, value }) =>
        type === 'dns' ? value.toLowerCase() : type === 'ip' ? value : [],
      ),
      issuer,
    }
  } catch {
    return undefined
  }
}

/** Returns the id by which a directory knows a certificate (RFC 9773 §4.1). */
export function renewalId(pem: string): string {
  const certificate = new X509Certificate(pem)
  const { keyId = '' } = certificate.getExtension(AuthorityKeyIdentifierExtension) ?? {}
  const { serialNumber: serial } = certificate
  // As DER encodes the number: one that begins with a set bit gets a zero byte.
  const der = /^[89a-f]/i.test(serial) ? `00${serial}` : serial
  const encode = (hex: string) => Buffer.from(hex, 'hex').toString('base64url')
  return `${encode(keyId)}.${encode(der)}`
}

/** Creates an authority that issues certificates for this server alone. */
export async function createAuthority(instance: string, now: number): Promise<KeyPair> {
  const keys = await createKeys()
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [`Gatehouse ${instance} local authority`] }],
    notBefore: new Date(now - CLOCK_SKEW),
    notAfter: new Date(now + AUTHORITY_LIFETIME),
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { certificate: pemOf(certificate), key: exportKey(keys) }
}

/** Issues a certificate for names and IP addresses. */
export async function issueCertificate(
  authority: KeyPair,
  names: readonly string[],
  now: number,
): Promise<KeyPair> {
  const issuer = new X509Certificate(authority.certificate)
  const keys = await createKeys()
  const certificate = await X509CertificateGenerator.create({
    subject: [{ CN: [(names[0] ?? '').slice(0, 64)] }],
    issuer: issuer.subject,
    notBefore: new Date(now - CLOCK_SKEW),
    notAfter: new Date(Math.min(now + LEAF_LIFETIME, issuer.notAfter.getTime())),
    publicKey: keys.publicKey,
    signingKey: importKey(authority.key),
    signingAlgorithm: ALGORITHM,
    extensions: [
      new SubjectAlternativeNameExtension(
        names.map((value) => ({ type: isIP(value) ? ('ip' as const) : ('dns' as const), value })),
      ),
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      await AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  })
  return { certificate: pemOf(certificate) + authority.certificate, key: exportKey(keys) }
}

const createKeys = () => crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])

const pemOf = (certificate: X509Certificate) => `${certificate.toString('pem').trim()}\n`

const exportKey = ({ privateKey }: CryptoKeyPair): string =>
  KeyObject.from(privateKey as webcrypto.CryptoKey)
    .export({ type: 'pkcs8', format: 'pem' })
    .toString()

const importKey = (pem: string) =>
  createPrivateKey(pem).toCryptoKey(ALGORITHM, false, ['sign']) as CryptoKey
