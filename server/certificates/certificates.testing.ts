import 'reflect-metadata'
import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import {
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type JsonGeneralNames,
  SubjectAlternativeNameExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509'
import type { CertificateSource, ServedCertificate } from './certificates.ts'
import { createAuthority, issueCertificate, type KeyPair } from './x509.ts'

/** Creates an authority for tests, with a function that issues certificates. */
export async function createTestAuthority(now = Date.now()) {
  const authority = await createAuthority('tests', now)
  return {
    ca: authority.certificate,
    /** Returns a chain and its key. */
    issue: (...names: string[]): Promise<KeyPair> => issueCertificate(authority, names, now),
    /** Returns a certificate for a client, and its key. */
    issueClient: (...names: JsonGeneralNames): Promise<KeyPair> => issueClient(authority, names),
  }
}

async function issueClient(authority: KeyPair, names: JsonGeneralNames): Promise<KeyPair> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const sign = createPrivateKey(authority.key).toCryptoKey(algorithm, false, ['sign'])
  const certificate = await X509CertificateGenerator.create({
    issuer: new X509Certificate(authority.certificate).subject,
    notBefore: new Date(Date.now() - 60_000),
    notAfter: new Date(Date.now() + 60_000_000),
    publicKey: keys.publicKey.toCryptoKey(algorithm, true, ['verify']) as CryptoKey,
    signingKey: sign as CryptoKey,
    signingAlgorithm: algorithm,
    extensions: [
      new SubjectAlternativeNameExtension(names),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.clientAuth]),
    ],
  })
  const key = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return { certificate: certificate.toString('pem'), key }
}

/** Opens a TLS connection to this machine, with the sessions that it gets. The caller closes it. */
export async function connectTls(port: number, options: ConnectionOptions = {}) {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options })
  const sessions: Buffer[] = []
  socket.on('session', (session) => sessions.push(session))
  await once(socket, 'secureConnect')
  // A server that rejects a client certificate closes the connection after that.
  socket.on('error', () => {})
  return Object.assign(socket, { sessions })
}

/** Returns the fingerprint of the certificate of a server, as the API shows it. */
export const fingerprintOf = (socket: TLSSocket): string =>
  (socket.getPeerX509Certificate()?.fingerprint256 ?? '').replaceAll(':', '').toLowerCase()

/** Sends a request on a connection. Resolves with the status; 0 if the connection is closed. */
export function ask(socket: TLSSocket, path: string, headers = ''): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  socket.once('data', (data) => resolve(Number(String(data).split(' ')[1])))
  socket.once('close', () => resolve(0))
  if (socket.destroyed) resolve(0)
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`)
  return promise
}

/** A source of certificates for tests of listeners. */
export interface TestCertificates extends CertificateSource {
  /** The certificates by name. */
  readonly all: Map<string, Omit<ServedCertificate, 'name'>>
  /** Stores a certificate and tells the subscribers. */
  set(name: string, context: ServedCertificate['context'], hosts?: readonly string[]): void
  /** Number of subscribers. */
  readonly subscribers: number
}

/** Returns a {@link TestCertificates}, which is empty. */
export function createTestCertificates(): TestCertificates {
  const all: TestCertificates['all'] = new Map()
  const callbacks = new Set<(names: ReadonlySet<string>) => void>()
  return {
    all,
    set(name, context, hosts = []) {
      all.set(name, { context, hosts })
      for (const callback of callbacks) callback(new Set([name]))
    },
    get subscribers() {
      return callbacks.size
    },
    find: (names = ['default']) =>
      names.map((name) => {
        const found = all.get(name)
        if (found === undefined) throw new Error(`no certificate ${name}`)
        return { name, ...found }
      }),
    load: async () => {},
    has: (which) => (which === 'any' ? all.size > 0 : all.has('default')),
    requireStored: async () => {},
    challengeFor: undefined,
    onChange(callback) {
      callbacks.add(callback)
      return () => callbacks.delete(callback)
    },
  }
}
