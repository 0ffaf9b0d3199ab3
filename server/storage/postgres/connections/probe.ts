import type { Socket } from 'node:net'
import pg from 'pg'
import { isFileLimit, systemCode } from '../../../failure.ts'
import type { ProbeResult } from '../../availability/health-monitor.ts'
import { createSocket } from './create-socket.ts'

/** Maximum supported round-trip time to PostgreSQL, ms. */
export const MAX_ROUND_TRIP = 1_000

/** Maximum time between two packets from a responsive server, ms: a round trip and a margin. */
const PACKET_TIMEOUT = MAX_ROUND_TRIP + 250

/** Maximum time to connect, ms. TCP, TLS 1.2, SCRAM and a query take nine round trips. */
export const CONNECT_TIMEOUT = 10 * MAX_ROUND_TRIP

/** Reason reported for a server that accepts connections but sends nothing. */
const NO_ANSWER = 'no answer'

/** Interval at which the received bytes are checked, ms. */
const TICK = 50

/**
 * Checks PostgreSQL over a separate connection: whether it accepts the connection and responds, and
 * which of these backend processes are idle. Never throws. The check ends {@link PACKET_TIMEOUT}
 * after the server's last packet, so an unreachable server takes no longer than that.
 */
export async function probePostgres(
  connectionString: string,
  processes: readonly number[],
): Promise<ProbeResult> {
  const client = createClient(connectionString)
  const nothing: ProbeResult = { available: false, reason: NO_ANSWER }
  try {
    return await withPacketTimeout(client, queryProcesses(client, processes), nothing)
  } finally {
    disconnect(client)
  }
}

/**
 * Creates a client for a few queries. Connection errors are ignored; pending queries still fail.
 */
export function createClient(connectionString: string): pg.Client {
  const client = new pg.Client({
    connectionString,
    application_name: 'gatehouse',
    connectionTimeoutMillis: CONNECT_TIMEOUT,
    stream: createSocket,
  })
  client.on('error', () => {})
  return client
}

/**
 * Resolves with the result of the work on a client that is not connected yet, or with `late` if no
 * packet arrives for {@link PACKET_TIMEOUT} or the work takes longer than {@link CONNECT_TIMEOUT}.
 * Counts intervals instead of elapsed time, so that a process that was suspended reads pending
 * packets first.
 */
export async function withPacketTimeout<T, L>(
  client: pg.Client,
  work: Promise<T>,
  late: L,
): Promise<T | L> {
  // TLS wraps this socket, whose byte counter continues to increase.
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
  let isResolved = false
  stream.once('lookup', () => {
    isResolved = true
  })
  const progress = () => stream.bytesRead + Number(isResolved) + Number(!stream.connecting)
  const over = Promise.withResolvers<L>()
  let seen = progress()
  let silentTicks = 0
  let checks = 0
  const timer = setInterval(() => {
    const now = progress()
    silentTicks = now === seen ? silentTicks + 1 : 0
    seen = now
    if (silentTicks * TICK >= PACKET_TIMEOUT || ++checks * TICK >= CONNECT_TIMEOUT)
      over.resolve(late)
  }, TICK)
  try {
    return await Promise.race([work, over.promise])
  } finally {
    clearInterval(timer)
  }
}

/** A client that stops connecting if the server sends no packet for {@link PACKET_TIMEOUT}. */
export class Client extends pg.Client {
  constructor(config: pg.ClientConfig) {
    super({ connectionTimeoutMillis: CONNECT_TIMEOUT, stream: createSocket, ...config })
    const connected = new Promise<void>((resolve) => {
      this.once('connect', resolve)
      this.once('end', resolve)
    })
    void withPacketTimeout(this, connected, NO_ANSWER).then((late) => {
      if (late === NO_ANSWER) destroyConnection(this, new Error(NO_ANSWER))
    })
  }
}

/** Closes a connection without waiting for the server. */
export function disconnect(client: pg.Client): void {
  client.end().catch(() => {})
  destroyConnection(client)
}

/** Destroys a connection immediately. Its pending queries fail with the error, if one is given. */
export function destroyConnection(client: pg.ClientBase, error?: Error): void {
  // Not in the types of `pg`, but its pool does the same. `end` would wait for the server.
  const { connection } = client as unknown as { connection: { stream: Socket } }
  connection.stream.destroy(error)
}

async function queryProcesses(
  client: pg.Client,
  processes: readonly number[],
): Promise<ProbeResult> {
  try {
    await client.connect()
    const begun = performance.now()
    const { rows } = await client.query<{ pid: number }>(
      `select pid from unnest($1::int[]) as pid
       where not exists (select from pg_stat_activity as other
                         where other.pid = pid.pid and coalesce(other.state, '') not like 'idle%')`,
      [processes],
    )
    const roundTrip = Math.min(MAX_ROUND_TRIP, performance.now() - begun)
    return { available: true, idle: new Set(rows.map(({ pid }) => pid)), roundTrip }
  } catch (error) {
    return toProbeResult(error)
  }
}

/**
 * Returns the result for an error. A server that is out of connections or rejects the password is
 * available. The limit on open files of this process or machine says nothing about the server.
 */
function toProbeResult(error: unknown): ProbeResult {
  if (isFileLimit(error)) return { available: 'unknown' }
  const comesOrGoes = /^(57P|08)/.test(systemCode(error) ?? '')
  if (error instanceof pg.DatabaseError && !comesOrGoes) return { available: true, idle: new Set() }
  return { available: false, reason: reasonOf(error) }
}

/**
 * Returns the message of an error, or its code: if several addresses failed, there is no message.
 * From the message of an error of OpenSSL, which also names places in its source, it returns only the
 * reason.
 */
export function reasonOf(error: unknown): string {
  const { message } = error as Error
  const [, reason] = OPENSSL_ERROR.exec(message) ?? []
  return reason || message || systemCode(error) || 'no reason given'
}

/**
 * Matches a TLS error. Node.js sets its code and reason as properties only if no data waits to be
 * sent.
 */
const OPENSSL_ERROR = /:SSL routines:[^:]*:([^:]+):/
