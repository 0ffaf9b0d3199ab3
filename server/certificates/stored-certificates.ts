import * as z from 'zod/mini'
import {
  acmeChallenge,
  CERTIFICATES,
  type CertificateInfo,
  certificateFiles,
  certificateInfo,
  certificateKind,
  DEFAULT_CERTIFICATE,
} from '../contract/certificate.ts'
import { Failure } from '../failure.ts'
import { parseStoredPolicy } from '../policy/stored-policies.ts'
import { beginChange, type Caller } from '../storage/changes/begin-change.ts'
import type { Recorder } from '../storage/changes/recorder.ts'
import { type ExpectedRevision, requireRevision } from '../storage/changes/require-revision.ts'
import type { Change } from '../storage/changes/transactions.ts'
import { parseColumn, parseJsonColumn } from '../storage/sql/parse-column.ts'
import type { Store } from '../storage/store.ts'
import type { CertificatesTable } from '../storage/tables.ts'
import type { Vault } from '../storage/vault.ts'
import { type Order, order, orderText } from './acme/stored-orders.ts'
import type { Secret } from './check-certificate.ts'
import type { SealedSetting } from './sealed-setting.ts'
import type { KeyPair } from './x509.ts'

/** What a kind needs besides the certificate: paths, or the names to issue it for. */
const settingsOfKind = z.object({
  files: z.optional(certificateFiles),
  names: z.optional(z.array(z.string())),
  challenge: z.optional(acmeChallenge),
})

/** A certificate to be stored. */
export interface CertificateContent {
  readonly kind: z.infer<typeof certificateKind>
  readonly settings: z.infer<typeof settingsOfKind>
  /** The chain, PEM; null for files, which each node reads, and before the first is issued. */
  readonly certificate: string | null
  readonly info: CertificateInfo | null
  readonly secret: Secret | null
  /** Of the kind `acme`. */
  readonly order?: Order | undefined
}

/** A certificate as it is stored, with its secret encrypted. */
export interface StoredCertificate extends Omit<CertificateContent, 'secret'> {
  readonly name: string
  readonly revision: number
  readonly secret: string | null
}

const fromRow = ({ kind, settings, info, acme, ...row }: CertificatesTable): StoredCertificate => ({
  ...row,
  kind: parseColumn(certificateKind, 'certificates.kind', kind),
  settings: parseJsonColumn(settingsOfKind, 'certificates.settings', settings),
  info: info === null ? null : parseJsonColumn(certificateInfo, 'certificates.info', info),
  order: acme === null ? undefined : parseJsonColumn(order, 'certificates.acme', acme),
})

/** Returns the names, revisions and orders of all certificates. */
export const readRevisions = ({ db }: Store) =>
  db.selectFrom('certificates').select(['name', 'revision', 'acme']).execute()

/** Returns certificates by their names. */
export async function readCertificates(
  db: Store['db'] | Change,
  names: readonly string[],
): Promise<StoredCertificate[]> {
  if (names.length === 0) return []
  const rows = await db.selectFrom('certificates').selectAll().where('name', 'in', names).execute()
  return rows.map(fromRow)
}

const contextOf = (name: string) => `certificates/${name}/secret`

/** Decrypts what is needed to serve a certificate. */
export const readSecret = (vault: Vault, { name, secret }: StoredCertificate): Secret =>
  JSON.parse(vault.decrypt(secret ?? '', contextOf(name)))

export interface CertificateChange {
  readonly name: string
  readonly actor: Caller
  readonly expected?: ExpectedRevision
}

/**
 * Stores a certificate, with a row in the audit log.
 *
 * @throws Failure `precondition-failed`; `conflict` beyond {@link CERTIFICATES}.
 */
export function writeCertificate(
  { store, vault, record }: { store: Store; vault: Vault; record: Recorder },
  { name, actor, expected }: CertificateChange,
  content: CertificateContent,
): Promise<void> {
  const { kind, certificate, info, secret } = content
  const values = {
    kind,
    settings: JSON.stringify(content.settings),
    certificate,
    info: certificate && JSON.stringify(info),
    secret: secret && vault.encrypt(JSON.stringify(secret), contextOf(name)),
    acme: content.order === undefined ? null : orderText(content.order),
  }
  return store.change(async (trx) => {
    const revision = await beginChange(trx, actor)
    const [before] = await readCertificates(trx, [name])
    requireRevision('certificate', name, before?.revision, expected)
    if (before === undefined) await requireRoom(trx)
    await trx
      .insertInto('certificates')
      .values({ name, revision, ...values })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ revision, ...values }))
      .execute()
    const action = before === undefined ? 'certificate.add' : 'certificate.replace'
    await record(trx, { actor, action, target: name, ...audited(before, content) })
  })
}

/**
 * Removes a certificate, with a row in the audit log.
 *
 * @throws Failure `not-found`; `precondition-failed`; `conflict` if an endpoint uses it.
 */
export function removeCertificate(
  { store, record }: { store: Store; record: Recorder },
  { name, actor, expected }: CertificateChange,
): Promise<void> {
  return store.change(async (trx) => {
    // Takes the lock first: policies that name it are stored under the same one.
    await beginChange(trx, actor)
    const [before] = await readCertificates(trx, [name])
    if (before === undefined) throw noCertificate(name)
    requireRevision('certificate', name, before?.revision, expected)
    const used = [...((await readUses(trx)).get(name) ?? [])]
    if (used.length > 0) {
      const shown = used.slice(0, SHOWN_ENDPOINTS)
      const more = used.length > shown.length ? ` and ${used.length - shown.length} more` : ''
      throw new Failure(
        'conflict',
        `The certificate ${name} is used by ${shown.join(', ')}${more}. Choose another one for them first.`,
        { errors: shown.map((reason) => ({ field: 'endpoint', reason })) },
      )
    }
    await trx.deleteFrom('certificates').where('name', '=', name).execute()
    const action = 'certificate.remove'
    await record(trx, { actor, action, target: name, ...audited(before, undefined) })
  })
}

/** Number of endpoints that the rejection of a removal names. */
const SHOWN_ENDPOINTS = 20

export const noCertificate = (name: string) =>
  new Failure('not-found', `There is no certificate ${JSON.stringify(name.slice(0, 64))}.`)

type Audited = Pick<StoredCertificate, 'kind' | 'info' | 'settings'>

/** Returns what the audit log contains of a change. */
const audited = (before: Audited | undefined, after: Audited | undefined) => ({
  outcome: 'done' as const,
  before: before ? summary(before) : null,
  after: after ? summary(after) : null,
})

const summary = ({ kind, info, settings: { files, names } }: Audited) => ({
  kind,
  names: names ?? info?.names ?? [],
  ...(info && { fingerprint: info.fingerprint, notAfter: info.notAfter }),
  ...(files && { files }),
})

async function requireRoom(trx: Change): Promise<void> {
  const { count } = await trx
    .selectFrom('certificates')
    .select(({ fn }) => fn.countAll().as('count'))
    .executeTakeFirstOrThrow()
  if (Number(count) < CERTIFICATES) return
  throw new Failure(
    'conflict',
    `There are ${CERTIFICATES.toLocaleString('en')} certificates, the maximum. Delete one first.`,
  )
}

/**
 * Returns the addresses that use each certificate, sorted: those whose policy names it, also before
 * or after a trial, and for `default` the `ssl` endpoints whose policy names none.
 */
export async function readUses(db: Store['db'] | Change): Promise<Map<string, Set<string>>> {
  const isSecure = ['address', 'like', 'ssl:%'] as const
  const rows = await db
    .selectFrom('policies')
    .selectAll()
    .where(...isSecure)
    .execute()
  const stored = await db
    .selectFrom('endpoints')
    .select('address')
    .where(...isSecure)
    .where('proposal', 'is', null)
    .execute()
  const endpoints = new Set(stored.map(({ address }) => address))
  const policies = new Map(
    rows.map((row) => {
      const { policy, trial } = parseStoredPolicy(row) ?? {}
      return [row.address, trial ? [policy, trial.previous] : [policy]]
    }),
  )
  const uses = new Map<string, Set<string>>()
  for (const address of [...new Set([...endpoints, ...policies.keys()])].sort()) {
    const fallback = endpoints.has(address) ? [DEFAULT_CERTIFICATE] : []
    for (const policy of policies.get(address) ?? [null]) {
      for (const name of policy?.tls?.certificates ?? fallback) {
        uses.set(name, (uses.get(name) ?? new Set()).add(address))
      }
    }
  }
  return uses
}

/** The local authority: its certificate and key, PEM. */
export const authority: SealedSetting<KeyPair> = {
  name: 'certificate-authority',
  schema: z.object({ certificate: z.string(), key: z.string() }),
}
