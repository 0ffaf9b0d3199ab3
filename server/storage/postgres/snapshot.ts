import type { PostgresPool } from 'kysely'
import type { EngineSnapshot } from '../engine.ts'

/**
 * How long PostgreSQL waits for the next query of a snapshot, ms. The snapshot of a node that is
 * suspended must not keep the server from removing dead rows. Longer than a node waits for the
 * client of an export.
 */
const IDLE = 120_000

/**
 * Opens a read-only transaction with a snapshot on a connection of its own.
 *
 * @throws Failure `unavailable`
 */
export async function openPostgresSnapshot(pool: PostgresPool): Promise<EngineSnapshot> {
  const client = await pool.connect()
  try {
    await client.query('begin isolation level repeatable read read only', [])
    await client.query(`set local idle_in_transaction_session_timeout = ${IDLE}`, [])
    // The snapshot is taken by the first query.
    await client.query('select 1', [])
  } catch (error) {
    client.release()
    throw error
  }
  return {
    async execute({ sql, parameters }) {
      return client.query(sql, parameters)
    },
    async close() {
      try {
        await client.query('rollback', [])
      } finally {
        client.release()
      }
    },
  }
}
