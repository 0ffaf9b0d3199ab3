import { createServer, type Server, type Socket } from 'node:net'
import type { Server as SecureServer } from 'node:tls'
import { otherWork } from '../../../concurrency/turn-share.ts'
import type { CompiledPolicy } from '../../../policy/decide.ts'
import type { Traffic } from '../../traffic.ts'
import { HTTP_LIMITS } from '../http-engine.ts'
import { bytesSent, type Connection, IDLE_BEFORE_CLOSE } from './connection.ts'
import type { ConnectionLimit } from './connection-limit.ts'
import { HANDSHAKES } from './secure-server.ts'

export interface ListenerConnectionsDeps {
  readonly serve: (socket: Socket) => Connection
  readonly limit: ConnectionLimit
  /** Returns the rules of the endpoint; undefined if it has none. */
  readonly policy: () => Pick<CompiledPolicy, 'admits' | 'maxConnections' | 'tls'> | undefined
  /** Returns whether an address is that of a proxy, whose requests name the client. */
  readonly isTrustedProxy: (address: string) => boolean
  /** Whether the listener serves `_system`. The limit keeps connections for such listeners. */
  readonly servesSystem: () => boolean
  /** Called for each connection that the policy closes before anything is read. */
  readonly onRefusal: (client: string | null, rule: string) => void
  /** Counts the bytes of closed connections. */
  readonly traffic: Traffic
  /** Called when the last connection has closed. */
  readonly onEmpty: () => void
}

/** The connections of one listener. */
export class ListenerConnections {
  readonly #open = new Map<Socket, Connection>()
  // Only for ssl://: the TCP sockets below TLS, tracked from before the handshake.
  readonly #carriers = new Map<Socket, { readonly peer: string; readonly since: number }>()
  /** The carriers whose handshake has begun and not ended, by peer, the oldest first. */
  readonly #handshakes = new Map<string, Socket>()
  /** The names in verified client certificates, and the authorities that they were verified with. */
  readonly #clients = new WeakMap<Socket, { readonly names: string; readonly ca: string }>()
  readonly #deps: ListenerConnectionsDeps

  constructor(deps: ListenerConnectionsDeps) {
    this.#deps = deps
  }

  /** Number of connections, without those before the end of a TLS handshake. */
  get size(): number {
    return this.#open.size
  }

  get isEmpty(): boolean {
    return this.#open.size + this.#carriers.size === 0
  }

  /** Bytes received and sent, including those of open connections. */
  get bytes(): { readonly in: number; readonly out: number } {
    const { traffic } = this.#deps
    let bytesIn = traffic.bytesIn
    let bytesOut = traffic.bytesOut
    for (const socket of this.#open.keys()) {
      bytesIn += socket.bytesRead
      bytesOut += bytesSent(socket)
    }
    return { in: bytesIn, out: bytesOut }
  }

  /**
   * Creates a server that accepts connections.
   *
   * @param secure returns what accepts new connections over TLS, or undefined to close them. Connections
   * are not encrypted without it.
   */
  createServer(secure: (() => SecureServer | undefined) | undefined): Server {
    // The options that http.Server sets. Half-open, since a client may end its side after a
    // request.
    return createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      if (!this.#admit(socket)) return
      if (secure === undefined) this.#accept(socket)
      else this.#carry(socket, secure)
    })
  }

  /**
   * Serves the connections that a TLS server has accepted.
   *
   * @param ca the authorities that it accepts client certificates of.
   */
  follow(secure: SecureServer, ca: string | undefined): SecureServer {
    secure.on('secureConnection', (socket) => {
      this.#handshakes.delete(peerOf(socket))
      const names = socket.authorized && socket.getPeerX509Certificate()?.subjectAltName
      if (ca !== undefined && names) this.#clients.set(socket, { names, ca })
      this.#accept(socket)
    })
    return secure.on('tlsClientError', (_error, socket) => socket.destroy())
  }

  /**
   * Returns the names in the client certificate of a connection, as `subjectAltName` of Node.js
   * lists them, if the authorities of the current policy have issued it.
   */
  clientNames(socket: Socket): string | undefined {
    const client = this.#clients.get(socket)
    return client?.ca === this.#deps.policy()?.tls?.clientAuth?.ca ? client?.names : undefined
  }

  /** Announces the close of each connection in its current or next response. */
  announceClose(): void {
    for (const connection of this.#open.values()) connection.announceClose()
  }

  /** Closes the connections that are idle, including those that do not finish a TLS handshake. */
  closeIdle(): void {
    const now = performance.now()
    for (const [socket, connection] of this.#open) {
      if (connection.isIdle(now)) socket.destroy()
    }
    if (this.#carriers.size === 0) return
    const secure = new Set([...this.#open.keys()].map(peerOf))
    for (const [carrier, { peer, since }] of this.#carriers) {
      // A connection without a completed handshake has sent no request.
      if (!secure.has(peer) && now - since >= IDLE_BEFORE_CLOSE) carrier.destroy()
    }
  }

  /** Closes all connections immediately. */
  closeAll(): void {
    for (const socket of this.#open.keys()) socket.destroy()
    for (const socket of this.#carriers.keys()) socket.destroy()
  }

  /** Counts a connection against the limit; closes it if the limit is reached. */
  #admit(socket: Socket): boolean {
    const { limit, servesSystem } = this.#deps
    if (this.#isRefused(socket)) {
      socket.destroy()
      return false
    }
    if (!limit.enter(servesSystem())) {
      socket.destroy()
      return false
    }
    socket.once('close', () => limit.leave())
    return true
  }

  /** Returns whether the policy of the endpoint rejects a connection before anything is read. */
  #isRefused({ remoteAddress }: Socket): boolean {
    const { policy, isTrustedProxy, onRefusal, traffic } = this.#deps
    const rules = policy()
    if (rules === undefined) return false
    const { maxConnections = Number.POSITIVE_INFINITY } = rules
    const isProxy = remoteAddress !== undefined && isTrustedProxy(remoteAddress)
    const rule =
      !isProxy && !rules.admits(remoteAddress ?? null)
        ? 'allow'
        : this.#open.size + this.#carriers.size >= maxConnections
          ? 'maxConnections'
          : undefined
    if (rule === undefined) return false
    traffic.refused[rule]++
    onRefusal(remoteAddress ?? null, rule)
    return true
  }

  /** Begins the TLS handshake once the client has sent the first part and the node has time. */
  #carry(carrier: Socket, secure: () => SecureServer | undefined): void {
    const peer = peerOf(carrier)
    this.#carriers.set(carrier, { peer, since: performance.now() })
    carrier.once('close', () => {
      this.#carriers.delete(carrier)
      if (this.#handshakes.get(peer) === carrier) this.#handshakes.delete(peer)
      if (this.isEmpty) this.#deps.onEmpty()
    })
    carrier.on('error', () => carrier.destroy())
    carrier.setTimeout(HTTP_LIMITS.headersTimeout, () => carrier.destroy())
    // The server computes a signature for each handshake.
    carrier.once('readable', () =>
      otherWork.run(() => {
        // A client may disconnect while it waits. The server reads what has arrived in this turn.
        const server = carrier.readableLength === 0 ? undefined : secure()
        if (server === undefined) {
          carrier.destroy()
          return
        }
        this.#beginHandshake(peer, carrier)
        server.emit('connection', carrier.setTimeout(0))
      }),
    )
  }

  #beginHandshake(peer: string, carrier: Socket): void {
    const [oldest] = this.#handshakes.values()
    // It has had the longest time, so its client probably does not answer.
    if (oldest !== undefined && this.#handshakes.size >= HANDSHAKES) oldest.destroy()
    this.#handshakes.set(peer, carrier)
  }

  #accept(socket: Socket): void {
    const { serve, traffic, onEmpty } = this.#deps
    this.#open.set(socket, serve(socket))
    socket.once('close', () => {
      this.#open.delete(socket)
      traffic.bytesIn += socket.bytesRead
      traffic.bytesOut += bytesSent(socket)
      if (this.isEmpty) onEmpty()
    })
  }
}

/** Identifies a connection of one listener: TLS has two sockets for each. */
const peerOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`
