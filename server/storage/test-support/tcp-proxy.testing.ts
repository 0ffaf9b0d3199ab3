import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP proxy that simulates network failures. */
export interface TcpProxy {
  readonly port: number
  /** Number of open connections. */
  readonly connections: number
  /** Number of round trips: times that a client started to send, at first or after a response. */
  readonly roundTrips: number
  /** Number of round trips one after the other: those that overlap count as one. */
  readonly sequentialRoundTrips: number
  /** Whether the server has received bytes on a connection that it has not answered yet. */
  readonly isServerBusy: boolean
  /** Closes every connection. */
  cut(): void
  /** Drops all packets from now on without closing connections. Still accepts new connections. */
  swallow(): void
  /** Stops dropping packets. Connections opened or used in the meantime stay dead. */
  heal(): void
  /**
   * Adds a delay to each round trip, ms, except to the TCP handshake. Each direction has half of it,
   * give or take {@link PRECISION}, and does not wait for the other.
   */
  delay(roundTrip: number): void
  /**
   * Holds the responses on connections that are open now. Returns how many client messages contain
   * these bytes from now on, how many parts of responses to them are held, and the function that
   * passes all on.
   */
  holdResponses(bytes: string): { readonly asked: number; readonly held: number; release(): void }
  /**
   * Drops the response to the next client message that contains these bytes. Then closes the
   * connection (`cut`), or keeps it open without passing any more data (`silence`). Resolves when
   * the response is dropped.
   */
  loseAnswerTo(bytes: string, how?: 'cut' | 'silence'): Promise<void>
  /**
   * Closes every connection after this many more queries. The last query reaches the server, but
   * its response is lost. Returns a function that returns whether that has happened.
   */
  cutAfterQueries(count: number): () => boolean
  /**
   * Drops the next client message that contains these bytes, and closes the connection. Resolves
   * when the message is dropped.
   */
  loseRequest(bytes: string): Promise<void>
  close(): Promise<void>
}

/** Action for the next message that contains these bytes. */
interface Trap {
  readonly bytes: string
  readonly kind: 'cut' | 'silence' | 'request'
  readonly sprung: () => void
}

/** Held responses. */
interface Hold {
  readonly bytes: string
  readonly pairs: ReadonlySet<unknown>
  /** The connections on which a client message contained the bytes. */
  readonly matching: Set<unknown>
  readonly parts: (() => void)[]
  asked: number
  held: number
}

/**
 * What the message of a COMMIT contains. The settings of a new connection contain `read committed`.
 */
export const COMMIT_BYTES = 'commit\0'

/** Starts a proxy on the loopback interface, in front of a port there. */
export async function startTcpProxy(target: number): Promise<TcpProxy> {
  const pairs = new Set<readonly [Socket, Socket]>()
  let swallowing = false
  let roundTrip = 0
  let trap: Trap | undefined
  let queriesLeft = Infinity
  let roundTrips = 0
  let sequentialRoundTrips = 0
  let unanswered = 0
  const busy = new Set<Socket>()
  let hold: Hold | undefined
  // Without `noDelay`, a socket holds a second part back until the first one is acknowledged.
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ port: target, host: '127.0.0.1', noDelay: true })
    const pair = [client, upstream] as const
    pairs.add(pair)
    let lost = swallowing
    let isAnswered = true
    let losing: Trap | undefined
    const [toServer, toClient] = [createDelay(), createDelay()]
    const cut = () => {
      for (const socket of pair) socket.destroy()
      pairs.delete(pair)
    }
    client.on('data', (bytes) => {
      if (isAnswered) {
        roundTrips++
        if (unanswered++ === 0) sequentialRoundTrips++
      }
      isAnswered = false
      if (hold !== undefined && bytes.includes(hold.bytes)) {
        hold.asked++
        hold.matching.add(pair)
      }
      lost ||= swallowing
      if (lost) return
      if (trap !== undefined && bytes.includes(trap.bytes)) {
        losing = trap
        trap = undefined
        if (losing.kind === 'request') {
          losing.sprung()
          return cut()
        }
      }
      if (isQuery(bytes) && --queriesLeft === 0) return upstream.write(bytes, () => proxy.cut())
      toServer(roundTrip / 2, () => {
        if (isAnsweredBy(bytes)) busy.add(upstream)
        upstream.write(bytes)
      })
    })
    const answered = () => {
      if (!isAnswered) unanswered--
      isAnswered = true
    }
    upstream.on('data', (bytes) => {
      busy.delete(upstream)
      answered()
      lost ||= swallowing
      if (losing !== undefined) {
        losing.sprung()
        if (losing.kind === 'cut') return cut()
        lost = true
      }
      if (lost) return
      const pass = () => toClient(roundTrip / 2, () => client.write(bytes))
      if (hold?.pairs.has(pair)) {
        hold.parts.push(pass)
        if (hold.matching.has(pair)) hold.held++
      } else {
        pass()
      }
    })
    for (const socket of pair) {
      socket.on('error', () => {})
      // A dead connection does not forward the close, like an unreachable peer.
      socket.on('close', () => (lost ? undefined : cut()))
      socket.on('close', answered)
      socket.on('close', () => busy.delete(upstream))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const set = (bytes: string, kind: Trap['kind']) =>
    new Promise<void>((sprung) => {
      trap = { bytes, kind, sprung }
    })
  const proxy: TcpProxy = {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return pairs.size
    },
    get roundTrips() {
      return roundTrips
    },
    get sequentialRoundTrips() {
      return sequentialRoundTrips
    },
    get isServerBusy() {
      return busy.size > 0
    },
    cut() {
      for (const pair of [...pairs]) for (const socket of pair) socket.destroy()
      pairs.clear()
    },
    swallow() {
      swallowing = true
    },
    heal() {
      swallowing = false
    },
    cutAfterQueries(count) {
      queriesLeft = count
      return () => queriesLeft <= 0
    },
    delay(ms) {
      roundTrip = ms
    },
    holdResponses(bytes) {
      const held: Hold = {
        bytes,
        pairs: new Set(pairs),
        matching: new Set(),
        parts: [],
        asked: 0,
        held: 0,
      }
      hold = held
      return {
        get asked() {
          return held.asked
        },
        get held() {
          return held.held
        },
        release() {
          hold = undefined
          for (const pass of held.parts.splice(0)) pass()
        },
      }
    },
    loseAnswerTo: (bytes, how = 'cut') => set(bytes, how),
    loseRequest: (bytes) => set(bytes, 'request'),
    async close() {
      proxy.cut()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy
}

/** Half of the shortest timer, ms. */
const PRECISION = 0.5

/** Returns a function that delays writes, and keeps their order when the delay changes. */
function createDelay() {
  const waiting: { readonly due: number; readonly write: () => void }[] = []
  const wait = () => {
    const [first] = waiting
    if (first !== undefined) setTimeout(run, Math.floor(first.due - performance.now()))
  }
  const run = () => {
    const now = performance.now()
    while (waiting[0] !== undefined && waiting[0].due <= now + PRECISION) waiting.shift()?.write()
    wait()
  }
  return (ms: number, write: () => void): void => {
    if (ms === 0 && waiting.length === 0) {
      write()
      return
    }
    waiting.push({ due: performance.now() + ms, write })
    if (waiting.length === 1) wait()
  }
}

const SYNC = Buffer.from('S\0\0\0\x04')

/** Returns whether a part of PostgreSQL's protocol ends with a message that gets a response. */
const isAnsweredBy = (bytes: Buffer): boolean =>
  bytes.subarray(-SYNC.length).equals(SYNC) || /^[Qp\0]/.test(bytes.toString('latin1', 0, 1))

/** Returns whether a message is Query or Parse of PostgreSQL's protocol. */
const isQuery = (bytes: Buffer | string): boolean =>
  Buffer.isBuffer(bytes) && (bytes[0] === 0x51 || bytes[0] === 0x50)
