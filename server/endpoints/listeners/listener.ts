// One class, because the states of a listener and the transitions between them belong together.

import type { BigIntStats } from 'node:fs'
import type { Server, Socket } from 'node:net'
import type { Server as SecureServer } from 'node:tls'
import { isDeepStrictEqual } from 'node:util'
import type { CertificateSource } from '../../certificates/certificates.ts'
import { DEFAULT_CERTIFICATE } from '../../contract/certificate.ts'
import { includesDatabase, SYSTEM_DATABASE } from '../../contract/database.ts'
import { type Address, formatAddress, isIpLiteral } from '../../contract/endpoints/address.ts'
import type { ListenerState } from '../../contract/endpoints/listener.ts'
import { Failure } from '../../failure.ts'
import { type CompiledPolicy, compilePolicy } from '../../policy/decide.ts'
import type { StoredPolicy } from '../../policy/stored-policies.ts'
import { bind, bindingFailure, resolveHost } from '../address.ts'
import type { Mapping } from '../mapping.ts'
import { Traffic, TrafficHistory } from '../traffic.ts'
import type { ConnectionLimit } from './connections/connection-limit.ts'
import { ListenerConnections } from './connections/listener-connections.ts'
import { createSecureServer } from './connections/secure-server.ts'
import type { HttpEngine } from './http-engine.ts'
import {
  clearStaleSocket,
  closeUnixServer,
  isSocketLost,
  requireSafeFolder,
  restrictSocket,
} from './unix-socket.ts'

/** Interval at which a draining listener checks for idle connections, ms. */
const IDLE_CHECK = 100

export interface ListenerDeps {
  readonly engine: HttpEngine<Listener>
  /** For `ssl://` addresses. */
  readonly certificates: CertificateSource
  readonly limit: ConnectionLimit
  /** Returns whether an address is that of a trusted proxy. */
  readonly isTrustedProxy: (address: string) => boolean
  /** Folders in which no socket may be created: those of the store and of keys. */
  readonly reservedFolders?: readonly string[] | undefined
  /** Called if the certificates of an open endpoint cannot be used any more. */
  readonly onCertificateError?: ((address: string, error: unknown) => void) | undefined
  /** Called for each connection that the policy closes before anything is read. */
  readonly onRefusal?: ((address: string, client: string | null, rule: string) => void) | undefined
  /** Called after each change of {@link Listener.state}. */
  readonly changed: (listener: Listener) => void
  /** Whether another node serves an address that cannot be opened here. */
  readonly runsElsewhere?: (address: Address, failure: Failure) => boolean
}

let lastId = 0

/**
 * The running side of one endpoint: its socket, its connections and its counters. Listeners are
 * independent: opening, draining or closing one does not affect others.
 */
export class Listener {
  /** Unique in this process. */
  readonly id = ++lastId
  readonly traffic = new Traffic()
  /** Traffic of closed listeners of the same address (see {@link inherit}). */
  inherited: Traffic | undefined
  /** Samples of the last hour (see {@link sample}). */
  readonly history = new TrafficHistory()
  /** Applies from the next request on, including on open connections. */
  mapping: Mapping
  /** Revision of the endpoint, raised by each change of its mapping. */
  revision: number
  #policy: CompiledPolicy | undefined
  #storedPolicy: StoredPolicy | undefined
  /** When the next attempt to open is due, ms since 1970. Set by the code that retries. */
  nextTry: number | undefined
  #address: Address
  #bound: Address | undefined
  // Cached, because thousands of listeners are sorted by it.
  #name: string
  #state: ListenerState = 'opening'
  #since = Date.now()
  #error: Failure | undefined
  #failing: { readonly since: number; readonly attempts: number } | undefined
  #drainUntil: number | undefined
  // The same moment by the monotonic clock, which changes of the system's time do not affect.
  #drainDeadline = Number.POSITIVE_INFINITY
  #server: Server | undefined
  /** Accepts connections over TLS; created when it is needed. */
  #secure: SecureServer | undefined
  /** Whether {@link #secure} has older certificates or rules. */
  #isSecureOutdated = false
  #unsubscribe: (() => void) | undefined
  /** The file of a Unix socket. */
  #socketFile: BigIntStats | undefined
  #draining: AbortController | undefined
  #drained: Promise<void> | undefined
  #endDrain: (() => void) | undefined
  #closeTimer: NodeJS.Timeout | undefined
  readonly #connections: ListenerConnections
  readonly #deps: ListenerDeps

  /** @param policy if it is not enabled, the listener begins in the state `closed`. */
  constructor(
    address: Address,
    mapping: Mapping,
    revision: number,
    deps: ListenerDeps,
    policy?: StoredPolicy,
  ) {
    this.#address = address
    this.#name = formatAddress(address)
    this.mapping = mapping
    this.revision = revision
    this.#deps = deps
    this.setPolicy(policy)
    if (this.policy?.enabled === false) this.#state = 'closed'
    this.#connections = new ListenerConnections({
      serve: (socket) => deps.engine.serve(socket, this),
      limit: deps.limit,
      policy: () => this.#policy,
      isTrustedProxy: deps.isTrustedProxy,
      onRefusal: (client, rule) => deps.onRefusal?.(this.#name, client, rule),
      servesSystem: () => includesDatabase(this.mapping.names, SYSTEM_DATABASE),
      traffic: this.traffic,
      onEmpty: () => this.#endDrain?.(),
    })
  }

  /** The rules of the endpoint; undefined if it has none. They apply from the next request on. */
  get policy(): CompiledPolicy | undefined {
    return this.#policy
  }

  get storedPolicy(): StoredPolicy | undefined {
    return this.#storedPolicy
  }

  setPolicy(stored: StoredPolicy | undefined): void {
    if (stored?.revision === this.#storedPolicy?.revision) return
    const before = this.#policy?.tls
    this.#storedPolicy = stored
    this.#policy = stored?.policy ? compilePolicy(stored.policy) : undefined
    if (!isDeepStrictEqual(before, this.#policy?.tls)) this.#isSecureOutdated = true
  }

  /** Returns the names in the verified client certificate of a connection, as Node.js lists them. */
  clientNames(socket: Socket): string | undefined {
    return this.#connections.clientNames(socket)
  }

  /** The revision of the last change of the mapping or the policy. */
  get version(): number {
    return Math.max(this.revision, this.#storedPolicy?.revision ?? 0)
  }

  /** The configured address. Port 0 is replaced by the port that the system chose, once it is open. */
  get address(): Address {
    return this.#address
  }

  /** The address in canonical form. */
  get name(): string {
    return this.#name
  }

  /** The address with the IP address that its host name resolved to, while it is `listening`. */
  get bound(): Address | undefined {
    return this.#state === 'listening' ? this.#bound : undefined
  }

  get state(): ListenerState {
    return this.#state
  }

  /** When it entered its current state, ms since 1970. */
  get since(): number {
    return this.#since
  }

  /** Why it is `failed` or `elsewhere`. */
  get error(): Failure | undefined {
    return this.#error
  }

  /** The failures in a row: when the first was, ms since 1970, and their number. */
  get failing(): { readonly since: number; readonly attempts: number } | undefined {
    return this.#failing
  }

  /** When a drain closes the remaining connections, ms since 1970. */
  get drainUntil(): number | undefined {
    return this.#drainUntil
  }

  /** Number of open connections. */
  get connections(): number {
    return this.#connections.size
  }

  /** Whether responses announce that the connection will close. */
  get closing(): boolean {
    return this.#state === 'draining'
  }

  countRejected(): void {
    this.traffic.rejected++
  }

  /** Aborted when a drain begins; endless streams must then end. */
  get draining(): AbortSignal {
    this.#draining ??= new AbortController()
    if (this.closing) this.#draining.abort()
    return this.#draining.signal
  }

  /** Bytes received and sent, including those of open connections. */
  get bytes(): { readonly in: number; readonly out: number } {
    return this.#connections.bytes
  }

  /**
   * Ends a sampling period of `seconds` and stores its sample with the number `sample`
   * (`traffic.ts`). Also checks the file of a Unix socket, without which it is unreachable.
   */
  sample(sample: number, seconds: number): void {
    const { traffic, bytes, connections } = this
    traffic.sample(seconds)
    void this.#checkSocketFile()
    const open = this.#state === 'listening' || this.#state === 'draining'
    this.history.add(
      sample,
      open
        ? {
            requests: traffic.requests,
            errors: traffic.errors,
            bytesIn: bytes.in,
            bytesOut: bytes.out,
            connections,
          }
        : undefined,
    )
  }

  /**
   * Takes over the counters of a closed listener of the same address, so that the metrics of the
   * address never decrease while it has a listener.
   */
  inherit({ traffic, inherited }: Listener): void {
    this.inherited ??= new Traffic()
    this.inherited.add(traffic)
    if (inherited !== undefined) this.inherited.add(inherited)
  }

  /**
   * Opens the socket. The listener is `listening` when this resolves.
   *
   * @throws Failure with a readable reason (see `bindingFailure`). The listener is then `failed` or
   * `elsewhere`, has no socket and can be opened again.
   */
  async open(): Promise<void> {
    // Retries of an `elsewhere` listener are frequent; do not publish each of them.
    if (this.#state !== 'elsewhere') this.#become('opening')
    try {
      await this.#listen()
    } catch (cause) {
      const failure = cause instanceof Failure ? cause : bindingFailure(this.address, cause)
      this.#error = failure
      this.reevaluate()
      throw failure
    }
    if (this.closing) {
      // The node is stopping: close the socket that was opened in the meantime.
      this.#closeServer()
      return
    }
    this.#error = undefined
    this.nextTry = undefined
    this.#become('listening')
  }

  /**
   * Re-evaluates whether a listener that cannot be opened here is `elsewhere` or `failed`. Called
   * after other nodes have joined, left or changed.
   */
  reevaluate(): void {
    if (this.#error === undefined || this.#state === 'listening' || this.closing) return
    const elsewhere = this.#deps.runsElsewhere?.(this.address, this.#error) ?? false
    const state = elsewhere ? 'elsewhere' : 'failed'
    if (elsewhere) this.nextTry = undefined
    if (state !== this.#state) this.#become(state)
  }

  /**
   * Stops accepting connections; the port is free when this returns. Connections idle for one
   * second are closed, busy ones get `Connection: close` with their next response, and the rest are
   * closed after `grace` ms. Resolves when no connection is left. A later call can only shorten the
   * time.
   */
  drain(grace: number): Promise<void> {
    const deadline = performance.now() + grace
    if (deadline < this.#drainDeadline) {
      this.#drainDeadline = deadline
      this.#drainUntil = Date.now() + grace
    }
    this.#drained ??= this.#beginDrain()
    if (this.#endDrain !== undefined) {
      clearTimeout(this.#closeTimer)
      const left = Math.max(0, this.#drainDeadline - performance.now())
      this.#closeTimer = setTimeout(() => this.close(), left)
    }
    return this.#drained
  }

  #beginDrain(): Promise<void> {
    this.#become('draining')
    this.nextTry = undefined
    // net.Server's close: http.Server's would close busy connections between requests.
    this.#closeServer()
    this.#draining?.abort()
    this.#connections.announceClose()
    return new Promise((resolve) => {
      const timer = setInterval(() => this.#connections.closeIdle(), IDLE_CHECK)
      this.#endDrain = () => {
        clearInterval(timer)
        clearTimeout(this.#closeTimer)
        this.#endDrain = undefined
        resolve()
      }
      if (this.#connections.isEmpty) this.#endDrain()
    })
  }

  /** Closes the socket and all connections immediately. */
  close(): void {
    this.#closeServer()
    this.#connections.closeAll()
  }

  #closeServer(): void {
    const { address } = this
    this.#unsubscribe?.()
    if (this.#server === undefined) return
    if (address.scheme !== 'unix' || this.#socketFile === undefined) this.#server.close()
    else closeUnixServer(this.#server, address.path, this.#socketFile)
  }

  #become(state: ListenerState): void {
    this.#state = state
    this.#since = Date.now()
    if (state === 'failed') {
      const { since = this.#since, attempts = 0 } = this.#failing ?? {}
      this.#failing = { since, attempts: attempts + 1 }
    } else if (state !== 'opening') this.#failing = undefined
    this.#deps.changed(this)
  }

  async #listen(): Promise<void> {
    const { address } = this
    const where =
      address.scheme === 'unix'
        ? { path: address.path }
        : await resolveHost(address.host).then(({ ip, v6 }) => ({
            host: ip,
            port: address.port,
            // Without this, [::] would also bind the IPv4 port, which another endpoint may use.
            ipv6Only: v6,
          }))
    if (address.scheme === 'unix') {
      await requireSafeFolder(address.path, this.#deps.reservedFolders ?? [])
      await clearStaleSocket(address.path)
    }
    if (address.scheme === 'ssl')
      await this.#deps.certificates.load(this.#policy?.tls?.certificates)
    const server = this.#createServer()
    await bind(server, where)
    if (address.scheme === 'unix') {
      this.#socketFile = await restrictSocket(address.path).catch((error: unknown) => {
        server.close()
        throw error
      })
    }
    const bound = server.address()
    if (address.scheme !== 'unix' && bound !== null && typeof bound === 'object') {
      this.#address = { ...address, port: bound.port }
      this.#name = formatAddress(this.#address)
      this.#bound = isIpLiteral(address.host)
        ? undefined
        : { ...this.#address, host: bound.address }
    }
    server.on('error', (cause) => this.#fail(bindingFailure(address, cause)))
    this.#server = server
  }

  /** Closes the socket. The code that retries opens it again. Open connections continue. */
  #fail(failure: Failure): void {
    this.#error = failure
    this.#become('failed')
    this.#closeServer()
  }

  async #checkSocketFile(): Promise<void> {
    const { address } = this
    const socket = this.#socketFile
    if (address.scheme !== 'unix' || socket === undefined) return
    const isLost = await isSocketLost(address.path, socket)
    if (!isLost || this.#state !== 'listening' || this.#socketFile !== socket) return
    const message = `Another program has deleted or replaced the socket ${address.path}. The server creates it again.`
    this.#fail(new Failure('unavailable', message))
  }

  #createServer(): Server {
    if (this.address.scheme !== 'ssl') return this.#connections.createServer(undefined)
    this.#secure = this.#createSecureServer()
    this.#unsubscribe?.()
    this.#unsubscribe = this.#deps.certificates.onChange((names) => {
      const { certificates = [DEFAULT_CERTIFICATE] } = this.#policy?.tls ?? {}
      if (certificates.some((name) => names.has(name))) this.#isSecureOutdated = true
    })
    return this.#connections.createServer(() => this.#currentSecureServer())
  }

  /** Returns a TLS server with the current certificates. Open connections keep theirs. */
  #currentSecureServer(): SecureServer | undefined {
    if (!this.#isSecureOutdated) return this.#secure
    try {
      this.#secure = this.#createSecureServer()
    } catch (error) {
      // The rules of the policy must hold. A change of the certificates tries again.
      this.#isSecureOutdated = false
      this.#deps.onCertificateError?.(this.#name, error)
      this.#secure = undefined
    }
    return this.#secure
  }

  #createSecureServer(): SecureServer {
    const tls = this.#policy?.tls
    const certificates = this.#deps.certificates.find(tls?.certificates)
    const secure = createSecureServer(certificates, tls)
    this.#isSecureOutdated = false
    return this.#connections.follow(secure, tls?.clientAuth?.ca)
  }
}
