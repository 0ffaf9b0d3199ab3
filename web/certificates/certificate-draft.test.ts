import { expect, test } from 'vitest'
import { ApiFailure } from '../api/client.ts'
import {
  type CertificateDraft,
  certificateDraft,
  certificateSchema,
  readFiles,
  toCertificateErrors,
  toCertificateInput,
} from './certificate-draft.ts'

const block = (label: string, text = 'AAAA') =>
  `-----BEGIN ${label}-----\n${text}\n-----END ${label}-----\n`
const file = (name: string, content: string | Uint8Array<ArrayBuffer>) => new File([content], name)

const draft = (changes: Partial<CertificateDraft>): CertificateDraft => ({
  ...certificateDraft([]),
  name: 'web',
  ...changes,
})

test('files fill the fields of certificate and key, in any order', async () => {
  const [leaf, issuer, key] = [
    block('CERTIFICATE', 'leaf'),
    block('CERTIFICATE', 'issuer'),
    block('EC PRIVATE KEY'),
  ]
  const all = `Bag Attributes\n${leaf}text\n${key}${issuer}`
  expect(await readFiles([file('all.pem', all)])).toEqual({ pfx: null, certificate: all, key: all })
  expect(await readFiles([file('key.pem', key), file('a.crt', leaf), file('b', issuer)])).toEqual({
    pfx: null,
    certificate: leaf + issuer,
    key,
  })
  // A key that is chosen later keeps the certificate.
  expect(await readFiles([file('key.pem', key)])).toEqual({ pfx: null, key })
  const bytes = Uint8Array.of(0x30, 0xff, 0)
  expect(await readFiles([file('web.P12', bytes)])).toEqual({
    pfx: { name: 'web.P12', data: 'MP8A' },
  })
})

test.each([
  ['web.der is neither PEM nor PKCS #12 (.p12, .pfx).', [file('web.der', Uint8Array.of(0x30))]],
  ['big.pem is larger than 256 KiB.', [file('big.pem', 'x'.repeat(256 * 1024 + 1))]],
  ['The file contains neither a certificate nor a private key.', [file('a', block('PUBLIC KEY'))]],
])('a file is rejected: %s', async (message, files) => {
  await expect(readFiles(files)).rejects.toThrow(message)
})

test.each<[Partial<CertificateDraft>, ReturnType<typeof toCertificateInput>]>([
  [{ names: 'localhost, 192.0.2.1\n' }, { kind: 'local', names: ['localhost', '192.0.2.1'] }],
  [
    { kind: 'acme', names: 'a.example', challenge: 'tls-alpn-01' },
    { kind: 'acme', names: ['a.example'], challenge: 'tls-alpn-01' },
  ],
  [
    { kind: 'file', certificatePath: ' /a.pem', keyPath: '/b.pem' },
    { kind: 'file', certificate: '/a.pem', key: '/b.pem' },
  ],
  [
    { kind: 'upload', certificate: 'a', key: 'b', passphrase: ' c ' },
    { kind: 'upload', certificate: 'a', key: 'b', passphrase: ' c ' },
  ],
  [
    { kind: 'upload', certificate: 'a', pfx: { name: 'a.p12', data: 'MA==' } },
    { kind: 'upload', pfx: 'MA==' },
  ],
])('the draft %j has a body', (changes, body) => {
  expect(certificateSchema.safeParse(draft(changes)).error?.issues).toBeUndefined()
  expect(toCertificateInput(draft(changes))).toEqual(body)
})

test.each<[string, Partial<CertificateDraft>, string[]]>([
  ['local', { name: 'Web', names: ' ' }, ['name', 'names']],
  ['upload', { name: '', kind: 'upload' }, ['name', 'certificate', 'key']],
  ['file', { kind: 'file', keyPath: 'key.pem' }, ['certificatePath', 'keyPath']],
])('all fields that are missing or invalid are reported: %s', (_, changes, paths) => {
  const { error } = certificateSchema.safeParse(draft(changes))
  expect(error?.issues.map(({ path }) => path[0])).toEqual(paths)
})

test('every problem that the server finds is shown at its field', () => {
  const error = new ApiFailure(422, 422, 'The certificate cannot be used.', {
    field: '/certificate',
    errors: [
      { field: '/certificate', reason: 'expired on 2020-01-01' },
      { field: '/certificate', reason: 'has an RSA key of 1024 bits; the minimum is 2048' },
      { field: '/key', reason: 'does not belong to the certificate' },
    ],
  })
  const [certificate, key] = [
    'Expired on 2020-01-01. Has an RSA key of 1024 bits; the minimum is 2048.',
    'Does not belong to the certificate.',
  ]
  expect(toCertificateErrors(error, draft({ kind: 'upload' }))).toEqual({ certificate, key })
  expect(toCertificateErrors(error, draft({ kind: 'file' }))).toEqual({
    certificatePath: certificate,
    keyPath: key,
  })
})
