import type { FormErrors } from '@mantine/form'
import * as z from 'zod/mini'
import {
  CERTIFICATE_BYTES,
  type CertificateInput,
  type CertificateRecord,
  certificateName,
} from '../../server/contract/certificate.ts'
import { toFormErrors } from '../shared/forms/to-form-errors.ts'

/** The form of a certificate as typed. */
export interface CertificateDraft {
  readonly name: string
  readonly kind: CertificateRecord['kind']
  /** PEM. */
  readonly certificate: string
  readonly key: string
  /** A PKCS #12 file in place of both, base64. */
  readonly pfx: { readonly name: string; readonly data: string } | null
  readonly passphrase: string
  readonly certificatePath: string
  readonly keyPath: string
  /** One per line. */
  readonly names: string
  readonly challenge: 'http-01' | 'tls-alpn-01'
}

/** Returns the form of a new certificate for these names, or of one to replace. */
export const certificateDraft = (
  names: readonly string[],
  replaced?: CertificateRecord,
): CertificateDraft => ({
  name: replaced?.name ?? '',
  kind: replaced?.kind ?? 'local',
  certificate: '',
  key: '',
  pfx: null,
  passphrase: '',
  certificatePath: replaced?.files?.certificate ?? '',
  keyPath: replaced?.files?.key ?? '',
  names: (replaced?.names ?? replaced?.current?.names ?? names).join('\n'),
  challenge: replaced?.challenge ?? 'http-01',
})

/** Returns the request body of a draft, without its name. */
export function toCertificateInput(draft: CertificateDraft): CertificateInput {
  const { kind, certificate, key, pfx, challenge } = draft
  const names = namesOf(draft)
  if (kind === 'local') return { kind, names }
  if (kind === 'acme') return { kind, names, challenge }
  if (kind === 'file') {
    return { kind, certificate: draft.certificatePath.trim(), key: draft.keyPath.trim() }
  }
  const passphrase = draft.passphrase === '' ? {} : { passphrase: draft.passphrase }
  return pfx === null
    ? { kind, certificate, key, ...passphrase }
    : { kind, pfx: pfx.data, ...passphrase }
}

const namesOf = ({ names }: CertificateDraft): string[] =>
  names.split(/[\s,]+/).filter((name) => name !== '')

const field = (
  path: keyof CertificateDraft,
  error: string,
  isValid: (draft: CertificateDraft) => boolean,
) => z.refine<CertificateDraft>(isValid, { path: [path], error })

const pem = (path: 'certificate' | 'key', what: string) =>
  field(
    path,
    `Choose a file, or paste the ${what}.`,
    (draft) => draft.kind !== 'upload' || draft.pfx !== null || draft[path].trim() !== '',
  )

const absolute = (path: 'certificatePath' | 'keyPath') =>
  field(
    path,
    'Enter an absolute path.',
    (draft) => draft.kind !== 'file' || draft[path].trim().startsWith('/'),
  )

/** The schema of a draft. The server checks certificates, keys and names. */
export const certificateSchema = z.custom<CertificateDraft>().check(
  field(
    'name',
    'Enter 1 to 64 lower-case letters, digits, “.”, “_” or “-”, beginning with a letter or digit.',
    ({ name }) => certificateName.safeParse(name.trim()).success,
  ),
  pem('certificate', 'certificate'),
  pem('key', 'private key'),
  absolute('certificatePath'),
  absolute('keyPath'),
  field(
    'names',
    'Enter at least one name.',
    (draft) => (draft.kind !== 'local' && draft.kind !== 'acme') || namesOf(draft).length > 0,
  ),
)

/** Fields whose errors depend on each other: another key may fit the certificate. */
export const certificateGroups = [['certificate', 'key', 'pfx', 'passphrase']] as const

/** Assigns all problems that the server has found to their fields. */
export function toCertificateErrors(error: Error, draft: CertificateDraft): FormErrors {
  const isFile = draft.kind === 'file'
  return toFormErrors(error, {
    name: 'name',
    certificate: isFile ? 'certificatePath' : 'certificate',
    key: isFile ? 'keyPath' : 'key',
    pfx: 'pfx',
    passphrase: 'passphrase',
    names: 'names',
  })
}

/**
 * Returns the fields that files fill: those of PEM files, which may have a certificate, its chain, a
 * key or all of them, or of a PKCS #12 file. The server picks the blocks that a field needs.
 *
 * @throws Error (rejects) for users if a file is too large or of another kind.
 */
export async function readFiles(
  files: readonly File[],
): Promise<Partial<Pick<CertificateDraft, 'certificate' | 'key' | 'pfx'>>> {
  const large = files.find(({ size }) => size > CERTIFICATE_BYTES)
  if (large !== undefined) throw new Error(`${large.name} is larger than 256 KiB.`)
  const texts = await Promise.all(files.map((file) => file.text()))
  const binary = files.find((_, at) => !texts[at]?.includes('-----BEGIN '))
  if (binary !== undefined) {
    if (files.length > 1 || !/\.(p12|pfx)$/i.test(binary.name)) {
      throw new Error(`${binary.name} is neither PEM nor PKCS #12 (.p12, .pfx).`)
    }
    const bytes = new Uint8Array(await binary.arrayBuffer())
    const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
    return { pfx: { name: binary.name, data: btoa(text) } }
  }
  const having = (label: string) => texts.filter((text) => text.includes(`${label}-----`)).join('')
  const [certificate, key] = [having('CERTIFICATE'), having('PRIVATE KEY')]
  if (certificate === '' && key === '') {
    throw new Error('The file contains neither a certificate nor a private key.')
  }
  return { pfx: null, ...(certificate && { certificate }), ...(key && { key }) }
}
