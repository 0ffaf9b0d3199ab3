import type { Kysely, QueryId } from 'kysely'
import type { Tables } from '../../storage/tables.ts'

/**
 * Returns a database, or a transaction, that awaits `work` with the rows of each statement on a
 * table before it returns them.
 */
export function afterStatement<T extends Kysely<Tables>>(
  db: T,
  table: string,
  work: (rows: readonly unknown[]) => Promise<unknown>,
): T {
  const statements = new WeakSet<QueryId>()
  return db.withPlugin({
    transformQuery({ node, queryId }) {
      if (JSON.stringify(node).includes(table)) statements.add(queryId)
      return node
    },
    async transformResult({ queryId, result }) {
      if (statements.has(queryId)) await work(result.rows)
      return result
    },
  }) as Kysely<Tables> as T
}
