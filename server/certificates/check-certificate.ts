import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { isIP } from 'node:net'
import { duplexPair } from 'node:stream'
import {
  connect,
  createSecureContext,
  type SecureContext,
  type SecureContextOptions,
  TLSSocket,
} from 'node:tls'
import { domainToASCII } from 'node:url'
import type { InvalidPart } from '../contract/acknowledgement.ts'
import {
  CERTIFICATE_BYTES,
  type CertificateFiles,
  type CertificateInfo,
  CHAIN_LENGTH,
} from '../contract/certificate.ts'
import { replaceControls } from '../control-characters.ts'
import { Failure, systemCode } from '../failure.ts'

/** What the server needs to serve a certificate. Secret: stored encrypted, never given out. */
export type Secret =
  | { readonly key: string }
  | { readonly pfx: string; readonly passphrase?: string | undefined }

/** A certificate that has passed all checks. */
export interface CheckedCertificate {
  /** The chain as PEM, the certificate of the key first. */
  readonly certificate: string
  readonly info: CertificateInfo
  readonly secret: Secret
}

/** Size of an RSA key, bits: larger ones would make handshakes expensive. */
const RSA_BITS = { min: 2_048, max: 8_192 }

/** Curves that all current clients support. */
const CURVES: Readonly<Record<string, string>> = {
  prime256v1: 'P-256',
  secp384r1: 'P-384',
  secp521r1: 'P-521',
}

/** Returns the options of a TLS context with a certificate. */
export const contextOptions = (certificate: string, secret: Secret): SecureContextOptions =>
  'key' in secret
    ? { cert: certificate, key: secret.key }
    : { pfx: Buffer.from(secret.pfx, 'base64'), passphrase: secret.passphrase }

/** PEM texts of a certificate chain and its key. */
interface PemPair {
  readonly certificate: string
  readonly key: string
  readonly passphrase?: string | undefined
}

/**
 * Checks a certificate chain and its key.
 *
 * @param now ms since 1970.
 * @throws Failure `invalid` with all problems.
 */
export async function checkPem(input: PemPair, now: number): Promise<CheckedCertificate> {
  const problems: InvalidPart[] = []
  const certificates = parseCertificates(input.certificate, problems)
  const key = parseKey(input, problems)
  const leaf = key && certificates.find((each) => each.checkPrivateKey(key))
  if (key !== undefined && leaf === undefined && certificates.length > 0) {
    problems.push({ field: '/key', reason: 'does not belong to the certificate' })
  }
  // Without the right key, the first certificate is checked, so that all problems are reported.
  const chain = orderChain(leaf ?? certificates[0], certificates, problems)
  const info = await check(chain, now, problems)
  if (problems.length > 0 || info === undefined || key === undefined) throw invalid(problems)
  const pem = key.export({ type: 'pkcs8', format: 'pem' }).toString()
  return { certificate: toPem(chain), info, secret: { key: pem } }
}

/**
 * Checks a PKCS #12 file. Node.js reads it; the certificates are those that it sends in a handshake.
 *
 * @throws Failure `invalid` with all problems.
 */
export async function checkPfx(
  { pfx, passphrase }: { readonly pfx: string; readonly passphrase?: string | undefined },
  now: number,
): Promise<CheckedCertificate> {
  const problems: InvalidPart[] = []
  const sent = await readPfx(Buffer.from(pfx, 'base64'), passphrase)
  const chain = orderChain(sent[0], sent, problems)
  const info = await check(chain, now, problems)
  if (problems.length > 0 || info === undefined) throw invalid(problems)
  return { certificate: toPem(chain), info, secret: { pfx, passphrase } }
}

/** Returns the text of PEM certificates between their marks. */
export function splitCertificates(pem: string): string[] {
  const [begin, end] = ['-----BEGIN CERTIFICATE-----', '-----END CERTIFICATE-----']
  return pem
    .split(begin)
    .slice(1)
    .map((text) => `${begin}${text.split(end, 1)[0]}${end}\n`)
}

function parseCertificates(pem: string, problems: InvalidPart[]): X509Certificate[] {
  const field = '/certificate'
  const texts = splitCertificates(pem)
  if (texts.length === 0) problems.push({ field, reason: 'contains no certificate in PEM' })
  if (texts.length > CHAIN_LENGTH) {
    problems.push({ field, reason: `contains more than ${CHAIN_LENGTH} certificates` })
    return []
  }
  return texts.flatMap((text, at) => {
    try {
      const certificate = new X509Certificate(text)
      // Throws if the kind of the key is not known.
      void certificate.publicKey
      return certificate
    } catch {
      problems.push({ field, reason: `certificate ${at + 1} cannot be read` })
      return []
    }
  })
}

function parseKey({ key, passphrase }: PemPair, problems: InvalidPart[]): KeyObject | undefined {
  try {
    return createPrivateKey({ key, passphrase })
  } catch {
    const isEncrypted = key.includes('ENCRYPTED')
    const wrong =
      passphrase !== undefined ? 'is not that of the key' : 'missing: the key is encrypted'
    problems.push(
      isEncrypted
        ? { field: '/passphrase', reason: wrong }
        : { field: '/key', reason: 'is not a private key in PEM' },
    )
    return undefined
  }
}

/** Returns a certificate and its issuers in order. Reports certificates that are not among them. */
function orderChain(
  leaf: X509Certificate | undefined,
  certificates: readonly X509Certificate[],
  problems: InvalidPart[],
): X509Certificate[] {
  if (leaf === undefined) return []
  const chain: X509Certificate[] = []
  let rest = certificates
  for (let next: X509Certificate | undefined = leaf; next !== undefined; ) {
    const last: X509Certificate = next
    chain.push(last)
    // A certificate may be given twice.
    rest = rest.filter(({ fingerprint256 }) => fingerprint256 !== last.fingerprint256)
    next = rest.find((each) => last.checkIssued(each) && last.verify(each.publicKey))
  }
  for (const { subject } of rest) {
    const reason = `the certificate of ${JSON.stringify(subject.slice(0, 128))} did not issue the others`
    problems.push({ field: '/certificate', reason })
  }
  return chain
}

/** Checks the dates, keys and names of a chain. Returns what its first certificate says. */
async function check(
  chain: readonly X509Certificate[],
  now: number,
  problems: InvalidPart[],
): Promise<CertificateInfo | undefined> {
  const [leaf] = chain
  if (leaf === undefined) return undefined
  const report = (reason: string) => problems.push({ field: '/certificate', reason })
  for (const [at, each] of chain.entries()) {
    const which = at === 0 ? '' : `the issuing certificate ${at} `
    if (each.validToDate.getTime() <= now) {
      report(`${which}expired on ${each.validToDate.toISOString()}`)
    } else if (each.validFromDate.getTime() > now) {
      report(`${which}is not valid before ${each.validFromDate.toISOString()}`)
    }
    const reason = weakness(each)
    if (reason !== undefined) report(which + reason)
  }
  const info = await readInfo(leaf)
  if (info === undefined) report('cannot be read')
  else if (info.names.length === 0) report('names no host (subjectAltName)')
  else if (info.names.some(hasControl)) report('has a name with control characters')
  return info
}

const hasControl = (name: string) => /[\0-\x20\x7f-\x9f]/.test(name)

function weakness({ publicKey }: X509Certificate): string | undefined {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = publicKey
  if (type === 'ed25519') return undefined
  if (type === 'ec') {
    return CURVES[details?.namedCurve ?? '']
      ? undefined
      : 'has a curve that browsers do not support'
  }
  if (type !== 'rsa' && type !== 'rsa-pss') return 'has a kind of key that browsers do not support'
  const bits = details?.modulusLength ?? 0
  if (bits < RSA_BITS.min) return `has an RSA key of ${bits} bits; the minimum is ${RSA_BITS.min}`
  return bits > RSA_BITS.max
    ? `has an RSA key of ${bits} bits; the maximum is ${RSA_BITS.max}`
    : undefined
}

/** Returns what a certificate says; undefined if it is malformed. */
export async function readInfo(certificate: X509Certificate): Promise<CertificateInfo | undefined> {
  const { readCertificate } = await import('./x509.ts')
  const read = readCertificate(certificate.raw)
  if (read === undefined) return undefined
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = certificate.publicKey
  return {
    names: read.names,
    issuer: replaceControls(read.issuer),
    notBefore: certificate.validFromDate.toISOString(),
    notAfter: certificate.validToDate.toISOString(),
    fingerprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    serial: certificate.serialNumber.toLowerCase(),
    keyType:
      type === 'ec'
        ? `EC ${CURVES[details?.namedCurve ?? ''] ?? details?.namedCurve}`
        : type === 'ed25519'
          ? 'Ed25519'
          : `RSA ${details?.modulusLength}`,
  }
}

const toPem = (chain: readonly X509Certificate[]) => chain.map(String).join('')

/** Returns the certificates of a PKCS #12 file, that of its key first. */
async function readPfx(pfx: Buffer, passphrase: string | undefined): Promise<X509Certificate[]> {
  const wrong = (field: string, reason: string) => invalid([{ field, reason }])
  let secureContext: ReturnType<typeof createSecureContext>
  try {
    secureContext = createSecureContext({ pfx, passphrase: passphrase ?? '' })
  } catch (error) {
    const { message } = error as Error
    if (message.includes('mac verify')) throw wrong('/passphrase', 'is not that of the file')
    if (systemCode(error) === 'ERR_CRYPTO_UNSUPPORTED_OPERATION') throw wrong('/pfx', CONVERT)
    throw wrong('/pfx', 'is not a PKCS #12 file with a certificate and its key')
  }
  return handshake(secureContext).catch(() => {
    throw wrong('/pfx', 'has no certificate that belongs to its key, or its key is too weak')
  })
}

/**
 * Returns the certificates that a server with a context sends, its own first.
 *
 * @throws Error (rejects) if clients cannot connect to it.
 */
export async function handshake(secureContext: SecureContext): Promise<X509Certificate[]> {
  const [serverSide, clientSide] = duplexPair()
  const server = new TLSSocket(serverSide as never, { isServer: true, secureContext })
  const client = connect({ socket: clientSide, rejectUnauthorized: false })
  try {
    server.on('error', (error) => client.destroy(error))
    await once(client, 'secureConnect')
    const chain: X509Certificate[] = []
    let sent = client.getPeerCertificate(true)
    while (chain.length < CHAIN_LENGTH && sent?.raw !== undefined) {
      chain.push(new X509Certificate(sent.raw))
      if (sent.issuerCertificate === sent) break
      sent = sent.issuerCertificate
    }
    return chain
  } finally {
    client.destroy()
    server.destroy()
  }
}

/**
 * Reads the files of a certificate and its key.
 *
 * @throws Failure `invalid`
 */
export const readFiles = async ({ certificate, key }: CertificateFiles): Promise<PemPair> => ({
  certificate: await readSmallFile('/certificate', certificate),
  key: await readSmallFile('/key', key),
})

async function readSmallFile(field: string, path: string): Promise<string> {
  const wrong = (reason: string, systemCode?: string) =>
    new Failure('invalid', `${path} ${reason}.`, { field, ...(systemCode && { systemCode }) })
  let file: FileHandle | undefined
  try {
    // Without waiting for a writer, if it is a named pipe.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const stats = await file.stat()
    if (!stats.isFile()) throw wrong('is not a file')
    if (stats.size > CERTIFICATE_BYTES) throw wrong('is larger than 256 KiB')
    return await file.readFile('utf8')
  } catch (error) {
    if (error instanceof Failure) throw error
    const code = systemCode(error)
    throw wrong(`cannot be read: ${code ?? 'unknown error'}`, code)
  } finally {
    await file?.close()
  }
}

/**
 * Returns DNS names in ASCII and IP addresses, without duplicates.
 *
 * @param challenge how an ACME directory is to validate them.
 * @throws Failure `invalid` with all problems.
 */
export function parseNames(names: readonly string[], challenge?: string): string[] {
  const parsed = names.map((name) => (isIP(name) !== 0 && !name.includes('%') ? name : toDns(name)))
  const reasonOf = (name: string | undefined, at: number) => {
    if (name === undefined) {
      return `${JSON.stringify(names[at])} is neither a DNS name nor an IP address`
    }
    if (challenge !== undefined && name.startsWith('*.')) {
      return 'is a wildcard, which needs a challenge over DNS'
    }
    if (challenge !== 'tls-alpn-01' || isIP(name) === 0) return undefined
    return 'is an IP address; tls-alpn-01 validates only names'
  }
  const problems = parsed.flatMap((name, at) => {
    const reason = reasonOf(name, at)
    return reason === undefined ? [] : { field: `/names/${at}`, reason }
  })
  if (problems.length > 0) throw invalid(problems)
  return [...new Set(parsed.filter((name) => name !== undefined))]
}

function toDns(name: string): string | undefined {
  const prefix = name.startsWith('*.') ? '*.' : ''
  const ascii = domainToASCII(name.slice(prefix.length))
  const isName =
    ascii.length <= 253 &&
    isIP(ascii) === 0 &&
    ascii.split('.').every((label) => /^[a-z0-9_-]{1,63}$/.test(label))
  return isName ? prefix + ascii : undefined
}

function invalid(problems: readonly InvalidPart[]): Failure {
  const sentences = problems.map(({ field = '', reason }) => `${field.slice(1)}: ${reason}`)
  return new Failure('invalid', `The certificate cannot be used. ${sentences.join('; ')}.`, {
    field: problems[0]?.field,
    errors: [...problems],
  })
}

const CONVERT =
  'is encrypted with RC2 or another method that Node.js does not read. Convert it with: ' +
  'openssl pkcs12 -legacy -in old.p12 -nodes -out plain.pem && ' +
  'openssl pkcs12 -export -in plain.pem -out new.p12'
