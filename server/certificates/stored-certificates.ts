import * as z from 'zod/mini'
import {
  CERTIFICATES,
  type CertificateInfo,
  certificateFiles,
  certificateInfo,
  certificateKind,
  DEFAULT_CERTIFICATE,
} from '../contract/certificate.ts'
import { type Conditions, matches } from '../contract/conditions.ts'
import { Failure } from '../failure.ts'
import { parseStoredPolicy } from '../policy/stored-policies.ts'
import { beginChange, type Caller } from '../storage/changes/begin-change.ts'
import type { Recorder } from '../storage/changes/recorder.ts'
import type { Change } from '../storage/changes/transactions.ts'
import { parseColumn, parseJsonColumn } from '../storage/sql/parse-column.ts'
import type { Store } from '../storage/store.ts'
import type { CertificatesTable } from '../storage/tables.ts'
import type { Vault } from '../storage/vault.ts'
import type { Secret } from './check-certificate.ts'

/** What a kind needs besides the certificate: paths, or the names to issue it for. */
const settings = z.object({
  files: z.optional(certificateFiles),
  names: z.optional(z.array(z.string())),
})

/** A certificate to be stored. */
export interface CertificateContent {
  readonly kind: z.infer<typeof certificateKind>
  readonly settings: z.infer<typeof settings>
  /** The chain, PEM; null for files, which each node reads. */
  readonly certificate: string | null
  readonly info: CertificateInfo
  readonly secret: Secret | null
}

/** A certificate as it is stored, with its secret encrypted. */
export interface StoredCertificate extends Omit<CertificateContent, 'info' | 'secret'> {
  readonly name: string
  readonly revision: number
  readonly info: CertificateInfo | null
  readonly secret: string | null
}

function fromRow(row: CertificatesTable): StoredCertificate {
  return {
    name: row.name,
    kind: parseColumn(certificateKind, 'certificates.kind', row.kind),
    revision: row.revision,
    settings: parseJsonColumn(settings, 'certificates.settings', row.settings),
    certificate: row.certificate,
    info:
      row.info === null ? null : parseJsonColumn(certificateInfo, 'certificates.info', row.info),
    secret: row.secret,
  }
}

/** Returns the names and revisions of all certificates. */
export const readRevisions = ({ db }: Store) =>
  db.selectFrom('certificates').select(['name', 'revision']).execute()

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
  /** Revisions that the stored certificate may have; `none`: there must be none. */
  readonly expected?: Conditions['match'] | 'none' | undefined
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
  }
  return store.change(async (trx) => {
    const revision = await beginChange(trx, actor)
    const [before] = await readCertificates(trx, [name])
    requireRevision(before, expected)
    if (before === undefined) await requireRoom(trx)
    await trx
      .insertInto('certificates')
      .values({ name, revision, ...values })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ revision, ...values }))
      .execute()
    await record(trx, {
      actor,
      action: before === undefined ? 'certificate.add' : 'certificate.replace',
      target: name,
      outcome: 'done',
      before: before === undefined ? null : summary(before),
      after: summary(content),
    })
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
    requireRevision(before, expected)
    const used = (await readUses(trx)).get(name) ?? []
    if (used.length > 0) {
      const shown = used.slice(0, SHOWN_ENDPOINTS).join(', ')
      const more = used.length > SHOWN_ENDPOINTS ? ` and ${used.length - SHOWN_ENDPOINTS} more` : ''
      throw new Failure(
        'conflict',
        `The certificate ${name} is used by ${shown}${more}. Choose another one for them first.`,
        { errors: used.slice(0, SHOWN_ENDPOINTS).map((reason) => ({ field: 'endpoint', reason })) },
      )
    }
    await trx.deleteFrom('certificates').where('name', '=', name).execute()
    await record(trx, {
      actor,
      action: 'certificate.remove',
      target: name,
      outcome: 'done',
      before: summary(before),
      after: null,
    })
  })
}

/** Number of endpoints that the rejection of a removal names. */
const SHOWN_ENDPOINTS = 20

export const noCertificate = (name: string) =>
  new Failure('not-found', `There is no certificate ${JSON.stringify(name.slice(0, 64))}.`)

/** Returns what the audit log contains of a certificate. */
const summary = ({
  kind,
  info,
  settings: { files, names },
}: Pick<StoredCertificate, 'kind' | 'info' | 'settings'>) => ({
  kind,
  names: info?.names ?? names ?? [],
  ...(info && { fingerprint: info.fingerprint, notAfter: info.notAfter }),
  ...(files && { files }),
})

function requireRevision(
  stored: StoredCertificate | undefined,
  expected: CertificateChange['expected'],
): void {
  if (expected === undefined) return
  const isMet =
    expected === 'none'
      ? stored === undefined
      : stored !== undefined && matches({ match: expected }, String(stored.revision))
  if (isMet) return
  throw new Failure(
    'precondition-failed',
    expected === 'none'
      ? 'The certificate already exists.'
      : stored === undefined
        ? 'The certificate no longer exists.'
        : 'The certificate has been changed since you loaded it. Reload it and try again.',
  )
}

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
 * Returns the addresses that use each certificate: those whose policy names it, also before or after
 * a trial, and for `default` the `ssl` endpoints whose policy names none.
 */
export async function readUses(db: Store['db'] | Change): Promise<Map<string, string[]>> {
  const rows = await db
    .selectFrom('policies')
    .selectAll()
    .where('address', 'like', 'ssl:%')
    .execute()
  const stored = await db
    .selectFrom('endpoints')
    .select('address')
    .where('address', 'like', 'ssl:%')
    .where('proposal', 'is', null)
    .execute()
  const endpoints = new Set(stored.map(({ address }) => address))
  const fallback = (address: string) => (endpoints.has(address) ? [DEFAULT_CERTIFICATE] : [])
  const named = new Map<string, Set<string>>()
  for (const row of rows) {
    const stored = parseStoredPolicy(row)
    const policies = [stored?.policy, ...(stored?.trial ? [stored.trial.previous] : [])]
    const ofEach = policies.map((policy) => policy?.tls?.certificates ?? fallback(row.address))
    named.set(row.address, new Set(ofEach.flat()))
  }
  for (const address of endpoints) {
    if (!named.has(address)) named.set(address, new Set(fallback(address)))
  }
  const uses = new Map<string, string[]>()
  for (const [address, names] of [...named].sort(([a], [b]) => (a < b ? -1 : 1))) {
    for (const name of names) uses.set(name, [...(uses.get(name) ?? []), address])
  }
  return uses
}

const AUTHORITY = 'certificate-authority'
const authority = z.object({ certificate: z.string(), key: z.string() })

/** The local authority: its certificate and key, PEM. */
export type Authority = z.infer<typeof authority>

/** Returns the certificate of the local authority, PEM, and its encrypted key. */
export async function readAuthority({ db }: Pick<Store, 'db'>): Promise<Authority | undefined> {
  const row = await db
    .selectFrom('settings')
    .select('value')
    .where('name', '=', AUTHORITY)
    .executeTakeFirst()
  return row && parseJsonColumn(authority, 'settings.value', row.value)
}

export const authorityKey = (vault: Vault, { key }: Authority) => vault.decrypt(key, AUTHORITY)

/** Stores a new local authority, unless another node has just stored one. */
export async function storeAuthority(
  { db }: Pick<Store, 'db'>,
  vault: Vault,
  { certificate, key }: Authority,
): Promise<void> {
  const value = JSON.stringify({ certificate, key: vault.encrypt(key, AUTHORITY) })
  await db
    .insertInto('settings')
    .values({ name: AUTHORITY, value })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
}
