import 'reflect-metadata'
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SubjectAlternativeNameExtension, X509CertificateGenerator } from '@peculiar/x509'
import { beforeAll, expect, test } from 'vitest'
import { createTestAuthority } from './certificates.testing.ts'
import { checkPem, checkPfx, splitCertificates } from './check-certificate.ts'

const DAY = 86_400_000
const now = Date.now()
let authority: Awaited<ReturnType<typeof createTestAuthority>>
beforeAll(async () => {
  authority = await createTestAuthority(now - 100 * DAY)
})

/** Returns the problems of a certificate, by field. */
const problemsOf = (checked: Promise<unknown>): Promise<[string, string][]> =>
  checked.then(
    () => [],
    (error) => {
      expect(error.code).toBe('invalid')
      return error.details.errors.map(({ field, reason }: Record<string, string>) => [
        field,
        reason,
      ])
    },
  )

/** Creates a self-signed certificate whose key or names no authority would accept. */
async function selfSigned({ bits = 2048, name = 'localhost' }) {
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
  const pair = generateKeyPairSync('rsa', { modulusLength: bits })
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=test',
    notBefore: new Date(now - DAY),
    notAfter: new Date(now + DAY),
    keys: {
      privateKey: pair.privateKey.toCryptoKey(algorithm, true, ['sign']) as CryptoKey,
      publicKey: pair.publicKey.toCryptoKey(algorithm, true, ['verify']) as CryptoKey,
    },
    signingAlgorithm: algorithm,
    extensions: [new SubjectAlternativeNameExtension([{ type: 'dns', value: name }])],
  })
  const key = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return { certificate: certificate.toString('pem'), key, privateKey: pair.privateKey }
}

test('a chain in any order is stored in order', async () => {
  const { issue } = await createTestAuthority(now)
  const { certificate, key } = await issue('localhost', '127.0.0.1')
  const [leaf = '', root = ''] = splitCertificates(certificate)
  // A file with all of them fits both fields.
  const all = `Bag Attributes\n${root}${key}${leaf}`
  const { certificate: stored, info } = await checkPem({ certificate: all, key: all }, now)
  expect(splitCertificates(stored)).toEqual([leaf, root])
  expect(info).toMatchObject({
    names: ['localhost', '127.0.0.1'],
    issuer: 'Gatehouse tests local authority',
    keyType: 'EC P-256',
  })
})

test('all problems of a certificate are reported at once', async () => {
  const expired = await authority.issue('localhost')
  const other = await authority.issue('other.test')
  const [foreign = ''] = splitCertificates((await selfSigned({})).certificate)
  expect(
    await problemsOf(checkPem({ certificate: expired.certificate + foreign, key: other.key }, now)),
  ).toEqual([
    ['/key', 'does not belong to the certificate'],
    ['/certificate', 'the certificate of "CN=test" did not issue the others'],
    ['/certificate', expect.stringMatching(/^expired on 20/)],
  ])
})

test('weak keys, unusable names and unreadable texts are rejected', async () => {
  expect(await problemsOf(checkPem(await selfSigned({ bits: 1024 }), now))).toEqual([
    ['/certificate', 'has an RSA key of 1024 bits; the minimum is 2048'],
  ])
  expect(await problemsOf(checkPem(await selfSigned({ name: 'a\n.test' }), now))).toEqual([
    ['/certificate', 'has a name with control characters'],
  ])
  expect(await problemsOf(checkPem({ certificate: 'x', key: 'y' }, now))).toEqual([
    ['/certificate', 'contains no certificate in PEM'],
    ['/key', 'is not a private key in PEM'],
  ])
  const { certificate, key } = await (await createTestAuthority(now)).issue('localhost')
  const twenty = certificate.repeat(10)
  expect(await problemsOf(checkPem({ certificate: twenty, key }, now))).toEqual([
    ['/certificate', 'contains more than 16 certificates'],
  ])
})

test('an encrypted key needs its passphrase, and is stored without', async () => {
  const { certificate, privateKey } = await selfSigned({})
  const key = privateKey
    .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' })
    .toString()
  expect(await problemsOf(checkPem({ certificate, key }, now))).toEqual([
    ['/passphrase', 'missing: the key is encrypted'],
  ])
  expect(await problemsOf(checkPem({ certificate, key, passphrase: 'wrong' }, now))).toEqual([
    ['/passphrase', 'is not that of the key'],
  ])
  const { secret } = await checkPem({ certificate, key, passphrase: 'secret' }, now)
  expect(secret).toMatchObject({ key: expect.stringContaining('BEGIN PRIVATE KEY') })
})

test('PKCS #12 is read with its password; RC2 is rejected with the command that converts it', async () => {
  const pfx = (name: string) => readFileSync(join(import.meta.dirname, 'testdata', name), 'utf8')
  const modern = pfx('first.p12.base64')
  const { info, certificate } = await checkPfx({ pfx: modern, passphrase: 'secret' }, now)
  expect(info.names).toEqual(['localhost', '127.0.0.1', '::1'])
  expect(splitCertificates(certificate)).toHaveLength(1)
  for (const passphrase of ['wrong', undefined]) {
    expect(await problemsOf(checkPfx({ pfx: modern, passphrase }, now))).toEqual([
      ['/passphrase', 'is not that of the file'],
    ])
  }
  const old = { pfx: pfx('first-rc2.p12.base64'), passphrase: 'secret' }
  expect(await problemsOf(checkPfx(old, now))).toEqual([
    ['/pfx', expect.stringContaining('openssl pkcs12 -legacy -in old.p12')],
  ])
  expect(await problemsOf(checkPfx({ pfx: 'AAAA', passphrase: '' }, now))).toEqual([
    ['/pfx', 'is not a PKCS #12 file with a certificate and its key'],
  ])
})
