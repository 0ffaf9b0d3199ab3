import 'reflect-metadata'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import {
  AuthorityKeyIdentifierExtension,
  Pkcs10CertificateRequest,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509'
import { onTestFinished } from 'vitest'
import { createTestAuthority } from '../certificates.testing.ts'

/** The names that the directory validates. */
export const NAMES = ['web.example']

/** A directory that validates every name at once. Signatures are not verified. */
export function createTestDirectory(origin: string, now: () => number) {
  let status = 'pending'
  let issued = ''
  const directory = {
    /** The names in certificates. */
    names: NAMES,
    /** Lifetime of certificates, ms. */
    lifetime: 90 * 86_400_000,
    renewalWindow: undefined as { start: number; end: number } | undefined,
    answer,
  }
  const keys = crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
    'sign',
    'verify',
  ])
  async function issue(request: string): Promise<void> {
    const { privateKey, publicKey } = await keys
    const { publicKey: requested } = new Pkcs10CertificateRequest(request)
    const certificate = await X509CertificateGenerator.create({
      serialNumber: '00ab',
      subject: 'CN=test',
      issuer: 'CN=test authority',
      notBefore: new Date(now()),
      notAfter: new Date(now() + directory.lifetime),
      publicKey: requested,
      signingKey: privateKey,
      signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
      extensions: [
        new SubjectAlternativeNameExtension(
          directory.names.map((value) => ({ type: 'dns' as const, value })),
        ),
        await AuthorityKeyIdentifierExtension.create(publicKey),
      ],
    })
    issued = certificate.toString('pem')
  }
  const url = (path: string) => `${origin}/${path}`
  const order = () => ({
    status,
    identifiers: [],
    authorizations: [url('authorization')],
    finalize: url('finalize'),
    certificate: url('certificate'),
  })
  /** Answers a request. */
  async function answer(path: string, body: unknown): Promise<Response> {
    const headers = { 'Replay-Nonce': 'nonce' }
    const json = (value: object, code = 200, location = '') =>
      Response.json(value, { status: code, headers: { ...headers, Location: location } })
    const payload = () =>
      JSON.parse(Buffer.from(JSON.parse(String(body)).payload, 'base64url').toString())
    switch (path) {
      case 'directory':
        return json({
          newNonce: url('nonce'),
          newAccount: url('account'),
          newOrder: url('new'),
          ...(directory.renewalWindow && { renewalInfo: url('renewal') }),
        })
      case 'nonce':
        return new Response(null, { headers })
      case 'account':
        return json({ status: 'valid' }, 201, url('account'))
      case 'new':
        status = 'pending'
        return json(order(), 201, url('order'))
      case 'order':
        return json(order())
      case 'authorization': {
        const challenge = { type: 'http-01', url: url('challenge'), status: 'pending', token: 'T' }
        const identifier = { type: 'dns', value: NAMES[0] }
        return json({ status: 'pending', identifier, challenges: [challenge] })
      }
      case 'challenge':
        status = 'ready'
        return json({ status: 'processing' })
      case 'finalize':
        await issue(payload().csr)
        status = 'valid'
        return json(order())
      case 'certificate':
        return new Response(issued, { headers })
      default: {
        const [start, end] = [directory.renewalWindow?.start, directory.renewalWindow?.end]
        const iso = (time = 0) => new Date(time).toISOString()
        return json({ suggestedWindow: { start: iso(start), end: iso(end) } })
      }
    }
  }
  return directory
}

/** Starts a {@link createTestDirectory} on this machine. `ca` issued its certificate. */
export async function startTestDirectory() {
  const { ca, issue } = await createTestAuthority()
  const { certificate: cert, key } = await issue('127.0.0.1')
  const server = createServer({ cert, key }, async (request, response) => {
    const path = request.url?.slice(1) ?? ''
    const { status, headers, body } = await directory.answer(path, await text(request))
    response.writeHead(status, Object.fromEntries(headers))
    response.end(body === null ? '' : await text(body))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const directory = createTestDirectory(origin, Date.now)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `${origin}/directory`, ca }
}
