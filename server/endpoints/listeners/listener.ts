import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls'
import { type Address, formatAddress } from '../contract/address.ts'
import { SYSTEM_DATABASE } from '../contract/database.ts'
import type { ListenerState } from '../contract/listener.ts'
import { Failure } from '../failure.ts'
import { bindingFailure, resolveHost } from './address.ts'
import type { Certificate } from './certificate.ts'
import { type Connection, IDLE_BEFORE_CLOSE } from './connection.ts'
import type { ConnectionLimit } from './connection-limit.ts'
import { HTTP_LIMITS, type HttpEngine } from './http-engine.ts'
import { type Mapping, reaches } from './mapping.ts'
import { Traffic } from './traffic.ts'
import { TrafficHistory } from './traffic-history.ts'
import { clearStaleSocket, requireSafeFolder, restrictSocket } from './unix-socket.ts'

/** How often a draining listener looks for connections that have become idle, ms. */
const DRAIN_LOOK = 100

/** What a listener needs of the node it runs on. */
export interface ListenerDeps {
  readonly engine: HttpEngine<Listener>
  /** Of `ssl://` addresses; undefined where none is configured. */
  readonly certificate: Certificate | undefined
  readonly limit: ConnectionLimit
  /** Folders in which no socket may be created: those of the store and of keys. */
  readonly reservedFolders?: readonly string[] | undefined
  /** Called after each change of {@link Listener.state}. */
  readonly changed: (listener: Listener) => void
  /** Whether an address that cannot be opened here is the business of another node. */
  readonly runsElsewhere?: (address: Address, failure: Failure) => boolean
}

let lastId = 0

/**
 * What runs for one endpoint: its socket, its connections and its counters. Opening, draining and
 * closing one touches no other.
 */
export class Listener {
  /** Of this one alone, in this process. */
  readonly id = ++lastId
  readonly traffic = new Traffic()
  /** The last hour of it, as {@link sample} was called. */
  readonly history = new TrafficHistory()
  /** Takes effect with the next request, also on connections that are open. */
  mapping: Mapping
  /** Of the endpoint: raised by every change of it. */
  revision: number
  /** When the next attempt to open is due, ms since 1970. Set by whoever makes the attempts. */
  nextTry: number | undefined
  #address: Address
  // Kept, not printed each time: thousands of listeners are sorted by it.
  #name: string
  #state: ListenerState = 'opening'
  #since = Date.now()
  #error: Failure | undefined
  #drainUntil: number | undefined
  #server: Server | undefined
  #draining: AbortController | undefined
  #drained: Promise<void> | undefined
  #endDrain: (() => void) | undefined
  #cut: NodeJS.Timeout | undefined
  readonly #connections = new Map<Socket, Connection>()
  // Of ssl:// alone: what a TLS connection runs on, there from before its handshake.
  readonly #carriers = new Map<Socket, { readonly peer: string; readonly since: number }>()
  readonly #deps: ListenerDeps

  constructor(address: Address, mapping: Mapping, revision: number, deps: ListenerDeps) {
    this.#address = address
    this.#name = formatAddress(address)
    this.mapping = mapping
    this.revision = revision
    this.#deps = deps
  }

  /** Where it listens. A port 0 becomes the one that the system chose, once it is open. */
  get address(): Address {
    return this.#address
  }

  /** The address in canonical form. */
  get name(): string {
    return this.#name
  }

  get state(): ListenerState {
    return this.#state
  }

  /** When it came into its state, ms since 1970. */
  get since(): number {
    return this.#since
  }

  /** Why it is `failed`, or cannot be opened here. */
  get error(): Failure | undefined {
    return this.#error
  }

  /** When a drain cuts what is left, ms since 1970. */
  get drainUntil(): number | undefined {
    return this.#drainUntil
  }

  /** How many connections are open. */
  get connections(): number {
    return this.#connections.size
  }

  /** Whether responses tell their client that the connection ends. */
  get closing(): boolean {
    return this.#state === 'draining'
  }

  /** Aborted when the drain begins: what streams without end must end then. */
  get draining(): AbortSignal {
    this.#draining ??= new AbortController()
    if (this.closing) this.#draining.abort()
    return this.#draining.signal
  }

  /** Bytes that came in and went out, those of open connections included. */
  get bytes(): { readonly in: number; readonly out: number } {
    let bytesIn = this.traffic.bytesIn
    let bytesOut = this.traffic.bytesOut
    for (const socket of this.#connections.keys()) {
      bytesIn += socket.bytesRead
      bytesOut += socket.bytesWritten
    }
    return { in: bytesIn, out: bytesOut }
  }

  /**
   * Ends a sampling period of `seconds`, that of the number `sample` (see `traffic-history.ts`).
   */
  sample(sample: number, seconds: number): void {
    const { traffic, bytes, connections } = this
    traffic.sample(seconds)
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
   * Opens the socket; `listening` when it resolves.
   *
   * @throws Failure with the reason in plain words (see `bindingFailure`); the listener is `failed`
   * or `elsewhere` then, holds no socket, and may be opened again.
   */
  async open(): Promise<void> {
    // What runs elsewhere is tried again and again, of which nobody wants to hear.
    if (this.#state !== 'elsewhere') this.#become('opening')
    try {
      await this.#listen()
    } catch (cause) {
      const failure = cause instanceof Failure ? cause : bindingFailure(this.address, cause)
      this.#error = failure
      this.judge()
      throw failure
    }
    if (this.closing) {
      // The node is being stopped: what came open meanwhile must not stay so.
      this.#server?.close()
      return
    }
    this.#error = undefined
    this.nextTry = undefined
    this.#become('listening')
  }

  /** Decides anew, after another node has come, gone or changed, whether what fails here runs there. */
  judge(): void {
    if (this.#error === undefined || this.#state === 'listening' || this.closing) return
    const elsewhere = this.#deps.runsElsewhere?.(this.address, this.#error) ?? false
    const state = elsewhere ? 'elsewhere' : 'failed'
    if (elsewhere) this.nextTry = undefined
    if (state !== this.#state) this.#become(state)
  }

  /**
   * Stops accepting at once: the port is free when this returns. Connections without a request for
   * one second are closed, busy ones are told with their next response, and what is left after
   * `grace` ms is cut. Resolves when no connection is left. Called again, it can only bring the cut
   * forward.
   */
  drain(grace: number): Promise<void> {
    const until = Date.now() + grace
    this.#drainUntil = Math.min(this.#drainUntil ?? until, until)
    this.#drained ??= this.#beginDrain()
    if (this.#endDrain !== undefined) {
      clearTimeout(this.#cut)
      this.#cut = setTimeout(() => this.close(), this.#drainUntil - Date.now())
    }
    return this.#drained
  }

  #beginDrain(): Promise<void> {
    this.#become('draining')
    this.nextTry = undefined
    // net.Server's own close, never http.Server's: that one cuts busy connections between requests.
    this.#server?.close()
    this.#draining?.abort()
    for (const connection of this.#connections.values()) connection.sayLast()
    return new Promise((resolve) => {
      const look = setInterval(() => this.#closeIdle(), DRAIN_LOOK)
      this.#endDrain = () => {
        clearInterval(look)
        clearTimeout(this.#cut)
        this.#endDrain = undefined
        resolve()
      }
      this.#endDrainIfEmpty()
    })
  }

  /** Closes the socket and cuts every connection, now. */
  close(): void {
    this.#server?.close()
    for (const socket of this.#connections.keys()) socket.destroy()
    for (const socket of this.#carriers.keys()) socket.destroy()
  }

  /** Puts a renewed certificate in use for connections to come. */
  renewCertificate(): void {
    if (this.address.scheme === 'ssl' && this.#deps.certificate !== undefined) {
      ;(this.#server as TlsServer | undefined)?.setSecureContext(this.#deps.certificate.context)
    }
  }

  #become(state: ListenerState): void {
    this.#state = state
    this.#since = Date.now()
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
            // Else [::] would take the IPv4 side of the port too, and two endpoints would be one.
            ipv6Only: v6,
          }))
    if (address.scheme === 'unix') {
      await requireSafeFolder(address.path, this.#deps.reservedFolders ?? [])
      await clearStaleSocket(address.path)
    }
    const server = this.#createServer()
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ ...where, exclusive: true }, () => {
        server.off('error', reject)
        resolve()
      })
    })
    if (address.scheme === 'unix') {
      await restrictSocket(address.path).catch((error: unknown) => {
        server.close()
        throw error
      })
    }
    const bound = server.address()
    if (address.scheme !== 'unix' && bound !== null && typeof bound === 'object') {
      this.#address = { ...address, port: bound.port }
      this.#name = formatAddress(this.#address)
    }
    server.on('error', (cause) => {
      this.#error = bindingFailure(address, cause)
      this.#become('failed')
      server.close()
    })
    this.#server = server
  }

  #createServer(): Server {
    // As http.Server sets them for itself: half-open, since a client may end its side after asking.
    const options = { allowHalfOpen: true, noDelay: true }
    if (this.address.scheme !== 'ssl') {
      return createServer(options, (socket) => this.#admit(socket) && this.#accept(socket))
    }
    if (this.#deps.certificate === undefined) {
      throw new Failure(
        'bad-parameter',
        'An ssl endpoint needs a certificate. Start Gatehouse with --tls-cert and --tls-key.',
      )
    }
    const server = createTlsServer({
      ...options,
      ...this.#deps.certificate.context,
      handshakeTimeout: HTTP_LIMITS.headersTimeout,
      ALPNProtocols: ['http/1.1'],
    })
    server.on('connection', (carrier: Socket) => {
      if (!this.#admit(carrier)) return
      this.#carriers.set(carrier, { peer: peerOf(carrier), since: performance.now() })
      carrier.once('close', () => {
        this.#carriers.delete(carrier)
        this.#endDrainIfEmpty()
      })
    })
    server.on('secureConnection', (socket) => this.#accept(socket))
    server.on('tlsClientError', (_error, socket) => socket.destroy())
    return server
  }

  /** Takes a place for a connection; where there is none, it is closed at once. */
  #admit(socket: Socket): boolean {
    const { limit } = this.#deps
    if (!limit.enter(reaches(this.mapping, SYSTEM_DATABASE))) {
      socket.destroy()
      return false
    }
    socket.once('close', () => limit.leave())
    return true
  }

  #accept(socket: Socket): void {
    this.#connections.set(socket, this.#deps.engine.serve(socket, this))
    socket.once('close', () => {
      this.#connections.delete(socket)
      this.traffic.bytesIn += socket.bytesRead
      this.traffic.bytesOut += socket.bytesWritten
      this.#endDrainIfEmpty()
    })
  }

  #endDrainIfEmpty(): void {
    if (this.#connections.size + this.#carriers.size === 0) this.#endDrain?.()
  }

  #closeIdle(): void {
    const now = performance.now()
    for (const [socket, connection] of this.#connections) {
      if (connection.isIdle(now)) socket.destroy()
    }
    if (this.#carriers.size === 0) return
    const secure = new Set([...this.#connections.keys()].map(peerOf))
    for (const [carrier, { peer, since }] of this.#carriers) {
      // Without its handshake it has asked for nothing either.
      if (!secure.has(peer) && now - since >= IDLE_BEFORE_CLOSE) carrier.destroy()
    }
  }
}

/** Which connection of one listener a socket belongs to: TLS has two sockets for each. */
const peerOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`
