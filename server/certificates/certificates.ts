import { X509Certificate } from 'node:crypto'
import { unwatchFile, watchFile } from 'node:fs'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import type { Logger } from 'pino'
import {
  type CertificateFiles,
  type CertificateInfo,
  type CertificateInput,
  type CertificateRecord,
  DEFAULT_CERTIFICATE,
} from '../contract/certificate.ts'
import type { LiveEvent } from '../contract/event.ts'
import { toIsoTime } from '../contract/iso-time.ts'
import { Failure } from '../failure.ts'
import type { Caller } from '../storage/changes/begin-change.ts'
import type { Recorder } from '../storage/changes/recorder.ts'
import type { Change } from '../storage/changes/transactions.ts'
import type { Store } from '../storage/store.ts'
import type { Vault } from '../storage/vault.ts'
import { createChallenges, type RequestHandler } from './acme/challenges.ts'
import { type AcmeConfig, createOrders } from './acme/orders.ts'
import { orderText } from './acme/stored-orders.ts'
import {
  checkPem,
  checkPfx,
  contextOptions,
  parseNames,
  readFiles,
  readInfo,
  type Secret,
  splitCertificates,
} from './check-certificate.ts'
import { readSealed, storeSealed } from './sealed-setting.ts'
import {
  authority,
  type CertificateChange,
  type CertificateContent,
  noCertificate,
  readCertificates,
  readRevisions,
  readSecret,
  readUses,
  removeCertificate,
  type StoredCertificate,
  writeCertificate,
} from './stored-certificates.ts'
import type { KeyPair } from './x509.ts'

/** A certificate as a listener serves it. */
export interface ServedCertificate {
  readonly name: string
  /** The names in the certificate, lower case. */
  readonly hosts: readonly string[]
  readonly context: SecureContextOptions
}

export interface CertificatesDeps {
  readonly store: Store
  readonly vault: Vault
  readonly record: Recorder
  readonly publish: (event: LiveEvent) => void
  /** The certificate from the command line. */
  readonly configured: { readonly cert: string; readonly key: string } | undefined
  /** The ACME directory from which certificates are ordered. */
  readonly acme: AcmeConfig | undefined
  /** Whether an endpoint of this node listens on a TCP port. */
  readonly isServed: (port: number) => boolean
  /** The id of this installation. */
  readonly instance: string
  /** Returns the time by the clock of the database, ms since 1970. */
  readonly now: () => number
  readonly log: Pick<Logger, 'info' | 'warn'>
  readonly onError: (error: unknown) => void
}

export type Certificates = Awaited<ReturnType<typeof createCertificates>>

/** The certificates of this node, for its listeners. */
export type CertificateSource = Pick<
  Certificates,
  'find' | 'load' | 'has' | 'requireStored' | 'onChange' | 'challengeFor'
>

/** A certificate in the memory of this node. */
interface Loaded {
  /** Undefined for the certificate from the command line. */
  readonly stored: StoredCertificate | undefined
  readonly files: CertificateFiles | undefined
  /** Undefined until the files could be read, or the first is issued. */
  current: Current | undefined
  error: CertificateRecord['error']
  /** Stops watching the files. */
  close: () => void
}

interface Current {
  readonly certificate: string
  readonly info: CertificateInfo
  readonly secret: () => Secret
}

/** Interval at which files are polled, ms. */
const CHECK_INTERVAL = 1_000

/** Interval at which certificates of the local authority are checked for their renewal, ms. */
const RENEWAL_INTERVAL = 3_600_000

/** The author of renewals. */
const RENEWAL: Caller = { name: 'certificates', by: 'system', address: null }

/**
 * Creates the certificates of this node (docs/decisions/0041-certificates.md).
 *
 * @throws Failure `bad-parameter` if the certificate from the command line cannot be used.
 */
export async function createCertificates(deps: CertificatesDeps) {
  const { store, vault, configured, acme, now, log, onError } = deps
  const loaded = new Map<string, Loaded>()
  let timer: NodeJS.Timeout | undefined
  const callbacks = new Set<(names: ReadonlySet<string>) => void>()

  const changed = (...names: string[]) => {
    if (names.length === 0) return
    const set = new Set(names)
    for (const callback of callbacks) callback(set)
    deps.publish({ type: 'certificate' })
  }

  /** Reads the files of a certificate. If they cannot be used, the last ones stay in use. */
  async function load(name: string, entry: Loaded, files: CertificateFiles): Promise<void> {
    try {
      const { certificate, key } = await readFiles(files)
      // Throws if they do not fit.
      createSecureContext({ cert: certificate, key })
      entry.current = { certificate, info: await infoOf(certificate), secret: () => ({ key }) }
      entry.error = undefined
    } catch (error) {
      // Expected while only one of the files is written; the change of the other loads them again.
      entry.error = { message: (error as Error).message, at: toIsoTime(now()) }
      log.warn({ certificate: name, err: error }, CANNOT_READ)
      throw error
    }
  }

  function watch(name: string, entry: Loaded, files: CertificateFiles): () => void {
    const reload = () =>
      void load(name, entry, files).then(
        () => {
          log.info({ certificate: name }, 'loaded the renewed certificate')
          changed(name)
        },
        () => deps.publish({ type: 'certificate' }),
      )
    const paths = [files.certificate, files.key]
    for (const path of paths) {
      // Polling, because a watch by inode misses a replaced symbolic link, as renewals use.
      watchFile(path, { interval: CHECK_INTERVAL, persistent: false }, reload)
    }
    return () => {
      for (const path of paths) unwatchFile(path, reload)
    }
  }

  /** Takes a certificate into memory. */
  async function add(name: string, stored: StoredCertificate | undefined): Promise<void> {
    const files = stored === undefined ? filesOf(configured) : stored.settings.files
    const entry: Loaded = {
      stored,
      files,
      current: currentOf(stored),
      error: undefined,
      close() {},
    }
    if (files !== undefined) {
      await load(name, entry, files).catch((error: unknown) => {
        if (stored === undefined) throw error
      })
      entry.close = watch(name, entry, files)
    }
    loaded.get(name)?.close()
    loaded.set(name, entry)
  }

  function currentOf(stored: StoredCertificate | undefined): Current | undefined {
    const { certificate = null, info = null } = stored ?? {}
    if (stored === undefined || certificate === null || info === null) return undefined
    return { certificate, info, secret: () => readSecret(vault, stored) }
  }

  if (configured !== undefined) {
    await add(DEFAULT_CERTIFICATE, undefined).catch((cause: unknown) => {
      const { cert, key } = configured
      const message = `The certificate ${cert} with the key ${key} cannot be loaded: ${String(cause)}`
      throw new Failure('bad-parameter', message, { cause })
    })
  }

  // The certificate of the command line has precedence over a stored one.
  const isReadOnly = (name: string) => configured !== undefined && name === DEFAULT_CERTIFICATE

  async function readChanges(): Promise<void> {
    const rows = await readRevisions(store)
    const stored = new Set(rows.map(({ name }) => name))
    const isCurrent = ({ name, revision, acme }: (typeof rows)[number]) => {
      const { stored } = loaded.get(name) ?? {}
      return (
        stored?.revision === revision && acme === (stored.order ? orderText(stored.order) : null)
      )
    }
    const names = rows.filter((row) => !isCurrent(row)).map(({ name }) => name)
    const outdated = names.filter((name) => !isReadOnly(name))
    const removed = [...loaded.keys()].filter((name) => !stored.has(name) && !isReadOnly(name))
    for (const name of removed) {
      loaded.get(name)?.close()
      loaded.delete(name)
    }
    for (const each of await readCertificates(store.db, outdated)) await add(each.name, each)
    changed(...outdated, ...removed)
  }

  // One after the other: an older read must not replace a newer one.
  let syncing: Promise<void> = Promise.resolve()
  const sync = (): Promise<void> => {
    syncing = syncing.catch(() => {}).then(readChanges)
    return syncing
  }

  const write = async (change: CertificateChange, content: CertificateContent) => {
    await writeCertificate(deps, change, content)
    await sync()
  }

  function requireWritable({ name }: CertificateChange): void {
    if (!isReadOnly(name)) return
    throw new Failure(
      'conflict',
      'The certificate "default" comes from the command line of this node (--tls-cert). Change its files instead.',
    )
  }

  async function ownAuthority(): Promise<KeyPair> {
    const found = await readSealed(store, vault, authority)
    if (found !== undefined) return found
    const { createAuthority } = await import('./x509.ts')
    const created = await createAuthority(deps.instance, now())
    await storeSealed(store, vault, authority, created, 'keep')
    return ownAuthority()
  }

  async function issue(names: string[]): Promise<CertificateContent> {
    const { issueCertificate } = await import('./x509.ts')
    const { certificate, key } = await issueCertificate(await ownAuthority(), names, now())
    const info = await infoOf(certificate)
    return { kind: 'local', settings: { names }, certificate, info, secret: { key } }
  }

  /** Checks what a request sends, or issues what it asks for. */
  async function contentOf(name: string, input: CertificateInput): Promise<CertificateContent> {
    if (input.kind === 'acme') {
      requireDirectory(acme)
      const { challenge } = input
      // The previous one stays in use until the ordered one is issued.
      const { certificate = null, info = null, secret } = loaded.get(name)?.current ?? {}
      return {
        kind: 'acme',
        settings: { names: parseNames(input.names, challenge ?? 'http-01'), challenge },
        ...{ certificate, info, secret: secret?.() ?? null },
        order: { state: 'pending', due: now(), failures: 0 },
      }
    }
    if (input.kind === 'local') return issue(parseNames(input.names))
    if (input.kind === 'file') {
      const { kind, ...files } = input
      const { info } = await checkPem(await readFiles(files), now())
      return { kind, settings: { files }, certificate: null, info, secret: null }
    }
    const { certificate, key, pfx, passphrase } = input
    const isPem = certificate !== undefined && key !== undefined
    if (isPem === (pfx !== undefined)) {
      throw new Failure(
        'bad-parameter',
        'Send either the certificate and its key as PEM, or a PKCS #12 file as pfx.',
        { field: pfx === undefined && certificate !== undefined ? '/key' : '/certificate' },
      )
    }
    const checked = isPem
      ? await checkPem({ certificate, key, passphrase }, now())
      : await checkPfx({ pfx: pfx ?? '', passphrase }, now())
    return { kind: 'upload', settings: {}, ...checked }
  }

  async function renewDue(): Promise<void> {
    for (const [name, entry] of loaded) {
      const { stored, current } = entry
      const at = stored?.kind === 'local' && current ? renewalOf(current.info) : undefined
      if (stored === undefined || at === undefined || at > now()) continue
      const expected = [String(stored.revision)]
      try {
        await write({ name, actor: RENEWAL, expected }, await issue(stored.settings.names ?? []))
      } catch (error) {
        // Another node has just renewed it.
        if (error instanceof Failure && error.code === 'precondition-failed') continue
        entry.error = { message: (error as Error).message, at: toIsoTime(now()) }
        throw error
      }
    }
  }

  const challenges =
    acme && createChallenges({ store, httpPort: acme.httpPort, isServed: deps.isServed, now })
  const orders =
    acme?.agreed && challenges
      ? createOrders({
          ...{ store, vault, config: acme, challenges, now, renewalOf, sync, log, onError },
          *orders() {
            for (const [name, { stored }] of loaded) if (stored?.order) yield [name, stored.order]
          },
          replace({ name, revision, kind, settings }, checked, order) {
            const expected = [String(revision)]
            return write({ name, actor: RENEWAL, expected }, { kind, settings, order, ...checked })
          },
        })
      : undefined

  /** Returns the state of an order for its record. */
  function toOrder({ kind, settings, order }: StoredCertificate) {
    if (kind !== 'acme' || order === undefined) return {}
    const { state, reason, due, renewal } = order
    return {
      names: settings.names,
      challenge: settings.challenge ?? 'http-01',
      order: {
        state,
        ...((orders === undefined || reason) && { reason: reason ?? NOT_ORDERED }),
        ...(state === 'failed' && { nextAttempt: toIsoTime(due) }),
      },
      ...(renewal !== undefined && { renewal: toIsoTime(renewal) }),
    }
  }

  const toRecord = (
    name: string,
    { stored, current, files, error }: Loaded,
    uses: ReadonlyMap<string, ReadonlySet<string>>,
  ): CertificateRecord => ({
    name,
    kind: stored?.kind ?? 'file',
    revision: stored?.revision ?? 0,
    current: current?.info ?? null,
    endpoints: [...(uses.get(name) ?? [])],
    ...(files && { files }),
    ...(stored?.kind === 'local' && current && { renewal: toIsoTime(renewalOf(current.info)) }),
    ...(stored && toOrder(stored)),
    ...(error && { error }),
    ...(stored === undefined && { readOnly: true as const }),
  })

  return {
    /**
     * Returns certificates; without names, the one for endpoints whose policy names none.
     *
     * @throws Failure `bad-parameter` if one is missing, `unavailable` if this node cannot read it.
     */
    find(names: readonly string[] = [DEFAULT_CERTIFICATE]): ServedCertificate[] {
      const isOrdered = (name: string) => {
        const { stored, current } = loaded.get(name) ?? {}
        return stored?.kind === 'acme' && current === undefined
      }
      // An endpoint waits for its first certificate, since it may have to answer the challenge.
      if (names.every(isOrdered)) return names.map((name) => ({ name, hosts: [], context: {} }))
      const usable = names.filter((name) => !isOrdered(name))
      return usable.map((name) => {
        const entry = loaded.get(name)
        if (entry === undefined) throw missing(name)
        const { current, error } = entry
        if (current === undefined) {
          const reason = error?.message ?? 'its files have not been read'
          throw new Failure('unavailable', `The certificate ${name} cannot be used: ${reason}`)
        }
        const context = contextOptions(current.certificate, current.secret())
        return { name, hosts: current.info.names, context }
      })
    },
    /** Reads certificates that another node has just stored. */
    async load(names: readonly string[] = [DEFAULT_CERTIFICATE]): Promise<void> {
      if (names.some((name) => !loaded.has(name))) await sync()
    },
    /** Whether there is any certificate, or the one for endpoints whose policy names none. */
    has: (which: 'any' | 'default'): boolean =>
      which === 'any' ? loaded.size > 0 : loaded.has(DEFAULT_CERTIFICATE),
    /**
     * Checks that certificates exist, in the transaction of a policy that names them.
     *
     * @throws Failure `conflict`
     */
    async requireStored(trx: Change, names: readonly string[]): Promise<void> {
      const stored = (await readCertificates(trx, names)).map(({ name }) => name)
      const at = names.findIndex((name) => !stored.includes(name) && !isReadOnly(name))
      if (at === -1) return
      throw new Failure('conflict', `There is no certificate "${names[at]}". Add it first.`, {
        field: `/tls/certificates/${at}`,
      })
    },
    /** Calls back with the names of certificates that have changed. Returns the unsubscribe. */
    onChange(callback: (names: ReadonlySet<string>) => void): () => void {
      callbacks.add(callback)
      return () => callbacks.delete(callback)
    },
    /** Returns what answers a challenge of the ACME directory for a name; missing without ACME. */
    challengeFor: challenges?.contextFor,
    /** Answers challenges of the ACME directory before other requests. */
    answerFirst: challenges?.answerFirst ?? ((next: RequestHandler) => next),
    sync,
    /** Returns all certificates, sorted by name. */
    async list(): Promise<CertificateRecord[]> {
      await sync()
      const uses = await readUses(store.db)
      return [...loaded]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, entry]) => toRecord(name, entry, uses))
    },
    /** @throws Failure `not-found` */
    async get(name: string): Promise<CertificateRecord> {
      await sync()
      const entry = loaded.get(name)
      if (entry === undefined) throw noCertificate(name)
      return toRecord(name, entry, await readUses(store.db))
    },
    /**
     * Checks and stores a certificate.
     *
     * @throws Failure `invalid` with all problems; `conflict`; `precondition-failed`.
     */
    async set(change: CertificateChange, input: CertificateInput): Promise<void> {
      requireWritable(change)
      await write(change, await contentOf(change.name, input))
      void orders?.wake()
    },
    /** @throws Failure `not-found`; `conflict` if an endpoint uses it; `precondition-failed`. */
    async remove(change: CertificateChange): Promise<void> {
      requireWritable(change)
      await removeCertificate(deps, change)
      await sync()
    },
    /** Returns the certificate of the local authority, PEM. */
    async root(): Promise<string> {
      const found = await readSealed(store, vault, authority)
      if (found !== undefined) return found.certificate
      throw new Failure(
        'not-found',
        'There is no local authority yet. The first certificate of the kind local creates it.',
      )
    },
    /** Yields the names and ends of all certificates, ms since 1970. */
    *ends(): Generator<[name: string, notAfter: number]> {
      for (const [name, { current }] of loaded) {
        if (current !== undefined) yield [name, Date.parse(current.info.notAfter)]
      }
    },
    /** Reads the stored certificates, and renews those of the local authority from now on. */
    async start(): Promise<void> {
      await sync()
      const renew = () => void renewDue().catch(onError)
      renew()
      timer ??= setInterval(renew, RENEWAL_INTERVAL).unref()
    },
    renewDue,
    /** Attempts the orders that are due. */
    attemptOrders: () => orders?.wake(),
    /** Orders and renews certificates of the ACME directory until it is disposed. */
    startOrders: (): Disposable => orders?.start() ?? { [Symbol.dispose]() {} },
    [Symbol.dispose]() {
      clearInterval(timer)
      for (const { close } of loaded.values()) close()
    },
  }
}

const CANNOT_READ = 'cannot load the certificate, keeping the previous one'

/** Returns the Failure of an endpoint whose certificate does not exist. */
const missing = (name: string) =>
  new Failure(
    'bad-parameter',
    name === DEFAULT_CERTIFICATE
      ? 'An ssl endpoint requires a certificate. Add one in the console under Certificates, or ' +
          'with POST /_api/certificate, and name it in the policy of the endpoint. ' +
          'A certificate with the name "default" needs no policy.'
      : `There is no certificate "${name}". Add it first.`,
  )

const HOW_TO_ORDER =
  'Set GATEHOUSE_ACME_DIRECTORY to the URL of a directory, such as ' +
  'https://acme-v02.api.letsencrypt.org/directory, and GATEHOUSE_ACME_TERMS=agreed if you agree to ' +
  'its terms, and restart the node.'

const NOT_ORDERED = `This node does not order certificates. ${HOW_TO_ORDER}`

/** @throws Failure `conflict` unless certificates can be ordered. */
function requireDirectory(acme: AcmeConfig | undefined): void {
  if (acme?.agreed) return
  const reason =
    acme === undefined
      ? 'no ACME directory is configured'
      : `the terms of ${acme.directory} have not been accepted`
  throw new Failure('conflict', `Certificates cannot be ordered: ${reason}. ${HOW_TO_ORDER}`, {
    field: '/kind',
  })
}

/** When a certificate is renewed: two thirds of its lifetime have passed. ms since 1970. */
function renewalOf({ notBefore, notAfter }: CertificateInfo): number {
  const begin = Date.parse(notBefore)
  return begin + ((Date.parse(notAfter) - begin) * 2) / 3
}

const filesOf = (configured: CertificatesDeps['configured']): CertificateFiles | undefined =>
  configured && { certificate: configured.cert, key: configured.key }

async function infoOf(certificate: string): Promise<CertificateInfo> {
  const [first = certificate] = splitCertificates(certificate)
  const info = await readInfo(new X509Certificate(first))
  if (info === undefined) throw new Failure('invalid', 'The certificate is malformed.')
  return info
}
