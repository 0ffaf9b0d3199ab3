import { setTimeout as pause } from 'node:timers/promises'
import { createSecureContext } from 'node:tls'
import type { Logger } from 'pino'
import { Failure, isStoreFailure } from '../../failure.ts'
import type { Store } from '../../storage/store.ts'
import type { AcmeChallengesTable } from '../../storage/tables.ts'
import type { Vault } from '../../storage/vault.ts'
import { type CheckedCertificate, checkPem, handshake } from '../check-certificate.ts'
import { readSealed, storeSealed } from '../sealed-setting.ts'
import { readCertificates, type StoredCertificate } from '../stored-certificates.ts'
import { type Challenges, portReason } from './challenges.ts'
import type { DirectoryClient, DirectoryOrder } from './directory-client.ts'
import {
  account,
  type Order,
  OrderChanged,
  removeChallenges,
  storeChallenges,
  storeOrder,
} from './stored-orders.ts'

/** The ACME directory from which certificates are ordered. */
export interface AcmeConfig {
  readonly directory: string
  /** The email address of the account. */
  readonly contact: string | undefined
  /** Whether the operator of this server agrees to the terms of the directory. */
  readonly agreed: boolean
  /** The port of this machine at which requests of the directory to port 80 arrive. */
  readonly httpPort: number
}

export interface OrdersDeps {
  readonly store: Store
  readonly vault: Vault
  readonly config: AcmeConfig
  readonly challenges: Challenges
  /** Returns the orders in the memory of this node. */
  readonly orders: () => Iterable<readonly [name: string, order: Order]>
  /** Stores an issued certificate. @throws Failure `precondition-failed` */
  readonly replace: (
    stored: StoredCertificate,
    checked: CheckedCertificate,
    order: Order,
  ) => Promise<void>
  /** Reads the orders again. */
  readonly sync: () => Promise<void>
  /** Returns the time by the clock of the database, ms since 1970. */
  readonly now: () => number
  /** When an issued certificate is renewed without a suggestion of the directory. */
  readonly renewalOf: (info: CheckedCertificate['info']) => number
  readonly log: Pick<Logger, 'info' | 'warn'>
  readonly onError: (error: unknown) => void
}

/** Interval at which a node looks for orders that are due, ms. */
const INTERVAL = 2_000

/** Maximum number of orders in progress. */
const ORDERS = 4

/** Pauses between attempts after failures in a row, ms: twice as long after each. */
const BACKOFF = { first: 60_000, longest: 86_400_000 }

/** The longest pause that a directory can ask for, ms. */
const LONGEST_RETRY_AFTER = 7 * 86_400_000

/** Pauses between questions for the state of an order, ms, and their number. */
const POLL = { first: 500, longest: 4_000, times: 60 }

/** Time for other nodes to notice an order and to open the port for challenges, ms. */
const OTHER_NODES = INTERVAL + 1_000

/** How long the answer to a challenge is stored, ms. */
const CHALLENGE_LIFETIME = 3_600_000

/** How long to wait before asking again when to renew a certificate (RFC 9773 §4.3.3), ms. */
const RENEWAL_INFO = { shortest: 60_000, usual: 21_600_000, longest: 86_400_000 }

/**
 * Orders and renews certificates. One node does so at a time. Each step can be resumed by any node:
 * the store has the URL and the key of an order, and the directory knows its state
 * (docs/decisions/0042-acme-orders.md).
 */
export function createOrders(deps: OrdersDeps) {
  const { store, vault, config, challenges, now, log } = deps
  const running = new Map<string, Promise<void>>()
  /** Open while this or another node has an order: the directory may ask any node. */
  let port: Promise<() => void> | undefined
  let stopped = false

  /** Begins or resumes the orders that are due, unless another node does. */
  async function attemptDue(): Promise<void> {
    const due = [...deps.orders()].filter(([, order]) => order.due <= now())
    const inProgress = due.some(([, { url }]) => url !== undefined)
    if (stopped || due.length === 0 || !(await store.acquireLock('acme'))) {
      // Another program, such as a node on the same machine, may have the port.
      if (inProgress && !stopped) openPort().catch(() => {})
      else closePort()
      return
    }
    const free = due.filter(([name]) => !running.has(name)).slice(0, ORDERS - running.size)
    for (const [name] of free) {
      running.set(
        name,
        attempt(name).finally(() => running.delete(name)),
      )
    }
    await Promise.all(running.values())
    if (running.size === 0) closePort()
  }

  /** Attempts the orders that are due. Resolves when no order is in progress. */
  const wake = (): Promise<void> =>
    attemptDue().catch((error: unknown) => {
      // The interval repeats it.
      if (!stopped && !isStoreFailure(error)) deps.onError(error)
    })

  const openPort = (): Promise<unknown> => {
    port ??= challenges.listen().catch((error: unknown) => {
      port = undefined
      throw error
    })
    return port
  }

  function closePort(): void {
    port?.then((close) => close()).catch(() => {})
    port = undefined
  }

  async function attempt(name: string): Promise<void> {
    const [stored] = await readCertificates(store.db, [name])
    const begun = stored?.order
    if (stored === undefined || begun === undefined || begun.due > now()) return
    const progress = { order: begun }
    try {
      if (await isTooEarly(stored, begun)) return
      const { checked, order } = await issue(stored, progress)
      await deps.replace(stored, checked, order)
      await removeChallenges(store, name)
      log.info({ certificate: name, notAfter: checked.info.notAfter }, 'received a certificate')
    } catch (error) {
      if (stopped || error instanceof OrderChanged || isStoreFailure(error)) return
      // A request has replaced the certificate.
      if (error instanceof Failure && error.code === 'precondition-failed') return
      await fail(name, progress.order, error, begun.url === progress.order.url)
    } finally {
      if (!stopped) await deps.sync()
    }
  }

  /** @param isResumed whether an earlier attempt, or another node, had created the order. */
  async function fail(
    name: string,
    order: Order,
    error: unknown,
    isResumed: boolean,
  ): Promise<void> {
    const { AcmeError } = await import('./directory-client.ts')
    const isKnown = error instanceof AcmeError || error instanceof Failure
    if (!isKnown) deps.onError(error)
    const reason = (error as Error).message
    const failures = order.failures + 1
    const backoff = Math.min(BACKOFF.first * 2 ** (failures - 1), BACKOFF.longest)
    const rejection = error instanceof AcmeError ? error.rejection : { isFinal: true }
    const { type, retryAfter = 0, isFinal = false } = rejection
    const due = now() + Math.max(backoff, Math.min(retryAfter, LONGEST_RETRY_AFTER))
    log.warn({ certificate: name, reason, failures }, 'could not order a certificate')
    if (type === UNKNOWN_ACCOUNT) {
      const known = await readSealed(store, vault, account)
      if (known) await storeSealed(store, vault, account, { ...known, url: null }, 'replace')
    }
    const { url, key, ...rest } = order
    // The directory may have validated the names while no node answered.
    const isRepeated = isFinal && isResumed && url !== undefined
    await storeOrder(store, name, order, {
      ...rest,
      ...(!isFinal && { url, key }),
      ...(isRepeated ? { due: now() } : { state: 'failed', failures, reason, due }),
    })
    if (isFinal) await removeChallenges(store, name)
  }

  /** Asks when to renew a certificate. Returns whether that is not yet due. */
  async function isTooEarly({ name, certificate }: StoredCertificate, order: Order) {
    if (order.state !== 'valid' || certificate === null) return false
    const { renewalId } = await import('../x509.ts')
    const { readRenewalWindow } = await import('./directory-client.ts')
    const { shortest, usual, longest } = RENEWAL_INFO
    const id = renewalId(certificate)
    const window = await readRenewalWindow(config.directory, id).catch((error: unknown) => {
      log.warn({ certificate: name, err: error }, 'could not ask when to renew a certificate')
      return undefined
    })
    const { renewal = order.due } = order
    const isWithin = window !== undefined && window.start <= renewal && renewal < window.end
    const planned =
      window === undefined || isWithin
        ? renewal
        : window.start + Math.random() * (window.end - window.start)
    if (planned <= now()) return false
    const pauseLength = Math.min(Math.max(window?.retryAfter ?? usual, shortest), longest)
    const due = Math.min(planned, now() + pauseLength)
    await storeOrder(store, name, order, { ...order, renewal: planned, due })
    return true
  }

  /** Returns a client whose account is registered. */
  async function connect(): Promise<DirectoryClient> {
    const { createDirectoryClient, createKey } = await import('./directory-client.ts')
    const { directory, contact = null } = config
    const save = (data: typeof own) => storeSealed(store, vault, account, data, 'replace')
    const stored = await readSealed(store, vault, account)
    const isKnown = stored?.directory === directory
    const own = isKnown ? stored : { directory, contact: null, key: await createKey(), url: null }
    // Before it is registered: the directory recognizes the key if this node ends here.
    if (!isKnown) await save(own)
    const client = createDirectoryClient(directory, own)
    if (own.url === null || own.contact !== contact) {
      await save({ ...own, contact, url: await client.register(contact) })
    }
    return client
  }

  /** Orders a certificate, or resumes the order. Stores each step in `progress`. */
  async function issue(stored: StoredCertificate, progress: { order: Order }) {
    const { AcmeError, reasonOf } = await import('./directory-client.ts')
    const keyOf = ({ order: { key = '' } }: typeof progress) =>
      vault.decrypt(key, keyContext(stored.name))
    const names = stored.settings.names ?? []
    const client = await connect()
    if (progress.order.url === undefined) await begin(client, stored, progress)
    let isAnswered = false
    let isFinalized = false
    for (let asked = 0; asked < POLL.times && !stopped; asked++) {
      const order = await client.readOrder(progress.order.url ?? '')
      if (order.status === 'invalid') {
        const authorizations = await client.readAuthorizations(order)
        throw new AcmeError(reasonOf(order, authorizations), { isFinal: true })
      }
      if (order.status === 'valid') {
        const certificate = await client.download(order)
        const checked = await checkIssued(certificate, keyOf(progress), names)
        const renewal = deps.renewalOf(checked.info)
        // The next step asks the directory when to renew.
        const due = Math.min(renewal, now() + RENEWAL_INFO.shortest)
        return { checked, order: { state: 'valid', failures: 0, renewal, due } satisfies Order }
      }
      if (order.status === 'pending' && !isAnswered) {
        await answer(client, order, stored)
        isAnswered = true
      } else if (order.status === 'ready' && !isFinalized) {
        await client.finalize(order, names, keyOf(progress))
        isFinalized = true
      } else await pause(Math.min(POLL.first * 2 ** (asked >> 3), POLL.longest), undefined, UNREF)
    }
    throw new AcmeError('The ACME directory did not complete the order within some minutes.')
  }

  /** Creates an order, and stores its URL and the key of its certificate in `progress` too. */
  async function begin(
    client: DirectoryClient,
    { name, settings }: StoredCertificate,
    progress: { order: Order },
  ): Promise<void> {
    const { createKey } = await import('./directory-client.ts')
    const key = vault.encrypt(await createKey(), keyContext(name))
    const url = await client.createOrder(settings.names ?? [])
    const { reason: _, ...order } = progress.order
    const next: Order = { ...order, state: 'pending', url, key }
    await storeOrder(store, name, progress.order, next)
    progress.order = next
  }

  /** Stores the answers to the challenges of an order and has the directory validate them. */
  async function answer(
    client: DirectoryClient,
    order: DirectoryOrder,
    { name: certificate, settings }: StoredCertificate,
  ): Promise<void> {
    const { AcmeError } = await import('./directory-client.ts')
    const { challenge: kind = 'http-01' } = settings
    const authorizations = await client.readAuthorizations(order)
    const open = authorizations.filter(({ status }) => status === 'pending')
    const rows: AcmeChallengesTable[] = []
    const urls: string[] = []
    for (const { identifier, challenges: offered } of open) {
      const found = offered.find(({ type }) => type === kind)
      if (found?.token === undefined) {
        const reason = `The ACME directory does not offer ${kind} for ${identifier.value}.`
        throw new AcmeError(reason, { isFinal: true })
      }
      rows.push({
        token: found.token,
        certificate,
        name: identifier.value.toLowerCase(),
        kind,
        answer: await client.answerTo(found.token),
        expires_at: now() + CHALLENGE_LIFETIME,
      })
      if (found.status === 'pending') urls.push(found.url)
    }
    await storeChallenges(store, rows, now())
    const [first] = rows
    if (kind === 'http-01' && first !== undefined) {
      await openPort().catch(async (error: unknown) => {
        // Another node on this machine, or a proxy, may answer.
        if (await challenges.isAnswered(first.token, first.answer)) return
        throw new AcmeError(portReason(config.httpPort, error))
      })
    }
    // Requests of the directory may reach any node.
    if (store.engine === 'postgres') await pause(OTHER_NODES, undefined, UNREF)
    for (const url of urls) await client.complete(url)
  }

  /** Checks what the directory issued, by a handshake too. @throws Failure `invalid` */
  async function checkIssued(certificate: string, key: string, names: readonly string[]) {
    const checked = await checkPem({ certificate, key }, now())
    const [sent] = await handshake(createSecureContext({ cert: checked.certificate, key }))
    if (sent?.fingerprint256.replaceAll(':', '').toLowerCase() !== checked.info.fingerprint) {
      throw new Failure('invalid', 'The issued certificate does not pass a handshake.')
    }
    const missing = names.filter((each) => !checked.info.names.includes(each))
    if (missing.length > 0) {
      throw new Failure('invalid', `The issued certificate lacks the names ${missing.join(', ')}.`)
    }
    return checked
  }

  return {
    wake,
    start(): Disposable {
      const run = () => void wake()
      run()
      const timer = setInterval(run, INTERVAL).unref()
      return {
        [Symbol.dispose]() {
          stopped = true
          clearInterval(timer)
          closePort()
        },
      }
    },
  }
}

const keyContext = (name: string) => `certificates/${name}/order`

const UNREF = { ref: false } as const

/** The directory has forgotten the account, which the next attempt registers again. */
const UNKNOWN_ACCOUNT = 'urn:ietf:params:acme:error:accountDoesNotExist'
