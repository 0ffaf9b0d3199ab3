import type { Socket } from 'node:net'
import pg from 'pg'
import { systemCode } from '../failure.ts'
import type { Look } from './reach.ts'

/** Longest round trip to PostgreSQL with which a node works, ms. */
export const LONGEST_ROUND_TRIP = 1_000

/** Maximum time that a server which answers leaves between two packets, ms: a round trip, and some. */
const STEP = LONGEST_ROUND_TRIP + 250

/** Maximum time to connect, ms: TCP, TLS 1.2, SCRAM and a query take nine round trips. */
export const CONNECT = 10 * LONGEST_ROUND_TRIP

/** What is said of a server that takes connections and sends nothing. */
const SILENT = 'no answer'

/** How often it is checked whether packets have come, ms. */
const TICK = 50

/**
 * Looks at a PostgreSQL by a connection of its own: whether it lets us in and answers, and which of
 * these processes of its (backends) do not work on a query. Never throws. It ends {@link STEP} after
 * the server has last answered, so a server that is gone takes no longer than that.
 */
export async function lookAtPostgres(
  connectionString: string,
  processes: readonly number[],
): Promise<Look> {
  const client = connectOnce(connectionString)
  const nothing: Look = { answers: false, reason: SILENT }
  try {
    return await whileAnswering(client, ask(client, processes), nothing)
  } finally {
    leave(client)
  }
}

/** A client for a question or two, which nobody has to listen to. */
export function connectOnce(connectionString: string): pg.Client {
  const client = new pg.Client({
    connectionString,
    application_name: 'gatehouse',
    connectionTimeoutMillis: CONNECT,
  })
  client.on('error', () => {})
  return client
}

/**
 * Resolves with the result of the work on a client that is not connected yet, or with `late` where no
 * packet comes for {@link STEP}, or it takes longer than {@link CONNECT}. Counts checks, not time: a
 * process that was held up itself reads what has come in the meantime first.
 */
export async function whileAnswering<T, L>(
  client: pg.Client,
  work: Promise<T>,
  late: L,
): Promise<T | L> {
  // TLS is wrapped around this socket, which goes on counting.
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
  const progress = () => stream.bytesRead + Number(!stream.connecting)
  const over = Promise.withResolvers<L>()
  let seen = progress()
  let silent = 0
  let checks = 0
  const timer = setInterval(() => {
    const now = progress()
    silent = now === seen ? silent + 1 : 0
    seen = now
    if (silent * TICK >= STEP || ++checks * TICK >= CONNECT) over.resolve(late)
  }, TICK)
  try {
    return await Promise.race([work, over.promise])
  } finally {
    clearInterval(timer)
  }
}

/** A client that gives up connecting where the server sends no packet for {@link STEP}. */
export class Client extends pg.Client {
  constructor(config: pg.ClientConfig) {
    super({ connectionTimeoutMillis: CONNECT, ...config })
    const connected = new Promise<void>((resolve) => {
      this.once('connect', resolve)
      this.once('end', resolve)
    })
    void whileAnswering(this, connected, SILENT).then((late) => {
      if (late === SILENT) cutOff(this, new Error(SILENT))
    })
  }
}

/** Leaves without waiting for a server that may be gone. */
export function leave(client: pg.Client): void {
  client.end().catch(() => {})
  cutOff(client)
}

/** Ends a connection at once, with whatever waits on it, which fails with the error if one is given. */
export function cutOff(client: pg.ClientBase, error?: Error): void {
  // Beyond the types of `pg`, but as its pool does it: `end` waits for the other side.
  const { connection } = client as unknown as { connection: { stream: Socket } }
  connection.stream.destroy(error)
}

async function ask(client: pg.Client, processes: readonly number[]): Promise<Look> {
  try {
    await client.connect()
    const asked = performance.now()
    const { rows } = await client.query<{ pid: number }>(
      `select pid from unnest($1::int[]) as pid
       where not exists (select from pg_stat_activity as other
                         where other.pid = pid.pid and coalesce(other.state, '') not like 'idle%')`,
      [processes],
    )
    const roundTrip = Math.min(LONGEST_ROUND_TRIP, performance.now() - asked)
    return { answers: true, idle: new Set(rows.map(({ pid }) => pid)), roundTrip }
  } catch (error) {
    return judge(error)
  }
}

/** A server that has no room for one more, or wants another password, is there all the same. */
function judge(error: unknown): Look {
  const comesOrGoes = /^(57P|08)/.test(systemCode(error) ?? '')
  if (error instanceof pg.DatabaseError && !comesOrGoes) return { answers: true, idle: new Set() }
  return { answers: false, reason: reasonOf(error) }
}

/** Several addresses tried in vain make an error without a message, but with a code. */
export function reasonOf(error: unknown): string {
  return (error as Error).message || systemCode(error) || 'no reason given'
}
