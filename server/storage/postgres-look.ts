import pg from 'pg'
import { systemCode } from '../failure.ts'
import { LOOK, type Look, within } from './reach.ts'

/**
 * Looks at a PostgreSQL by a connection of its own: whether it lets us in and answers, and which of
 * these processes of its (backends) do not work on a query. Takes a second at most; never throws.
 */
export async function lookAtPostgres(
  connectionString: string,
  processes: readonly number[],
): Promise<Look> {
  const client = connectOnce(connectionString)
  const nothing: Look = { answers: false, reason: 'no answer' }
  try {
    return await within(LOOK, ask(client, processes), nothing)
  } finally {
    leave(client)
  }
}

/** A client for a question or two, which nobody has to listen to. */
export function connectOnce(connectionString: string): pg.Client {
  const client = new pg.Client({
    connectionString,
    application_name: 'gatehouse',
    connectionTimeoutMillis: LOOK,
  })
  client.on('error', () => {})
  return client
}

/** Leaves without waiting for a server that may be gone. */
export function leave(client: pg.Client): void {
  client.end().catch(() => {})
  cutOff(client)
}

/** Ends a connection at once, with whatever waits on it. */
export function cutOff(client: pg.ClientBase): void {
  // Beyond the types of `pg`, but as its pool does it: `end` waits for the other side.
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } }
  connection.stream.destroy()
}

async function ask(client: pg.Client, processes: readonly number[]): Promise<Look> {
  try {
    await client.connect()
    const { rows } = await client.query<{ pid: number }>(
      `select pid from unnest($1::int[]) as pid
       where not exists (select from pg_stat_activity as other
                         where other.pid = pid.pid and coalesce(other.state, '') not like 'idle%')`,
      [processes],
    )
    return { answers: true, idle: new Set(rows.map(({ pid }) => pid)) }
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
