import type { CompiledQuery } from 'kysely'
import type { EngineSnapshot } from '../engine.ts'
import type { GuardedPool } from './connections/guarded-pool.ts'

/**
 * How long PostgreSQL waits for the next query of a snapshot, ms. The snapshot of a node that is
 * suspended must not keep the server from removing dead rows. Longer than a node waits for the
 * client of an export.
 */
const IDLE = 120_000

/**
 * Opens a read-only transaction with a snapshot on a separate connection.
 *
 * @throws Failure `unavailable`
 */
export async function openPostgresSnapshot(pool: GuardedPool): Promise<EngineSnapshot> {
  const client = pool.connect()
  const hold = (text: string) => client.hold({ text, values: [] })
  hold('begin isolation level repeatable read read only')
  hold(`set local idle_in_transaction_session_timeout = ${IDLE}`)
  try {
    // The snapshot is taken by the first query.
    await client.query({ text: 'select 1', values: [] })
  } catch (error) {
    client.release()
    throw error
  }
  return {
    async execute<R>({ sql: text, parameters }: CompiledQuery<R>) {
      const [result] = await client.query({ text, values: parameters })
      return { rows: result?.rows as R[] }
    },
    async close() {
      try {
        await client.rollback()
      } finally {
        client.release()
      }
    },
  }
}
