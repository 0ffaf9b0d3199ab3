import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { EngineName } from '../engine.ts'
import { codePointText } from './code-point-text.ts'

/**
 * Adds support for several nodes on one store: the nodes and their listeners, proposed endpoints,
 * and triggers that send notifications in the transaction of a change (`postgres/notifications.ts`).
 */
export function nodes(engine: EngineName): Migration {
  const text = codePointText(engine)
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      await db.schema.alterTable('endpoints').addColumn('proposal', 'text').execute()
      await db.schema.alterTable('endpoints').addColumn('proposed_at', 'bigint').execute()
      await db.schema
        .createIndex('endpoints_by_revision')
        .on('endpoints')
        .column('revision')
        .execute()
      await db.schema
        .createTable('nodes')
        .addColumn('name', text, (column) => column.primaryKey().notNull())
        .addColumn('run', 'text', (column) => column.notNull())
        .addColumn('place', 'text', (column) => column.notNull())
        .addColumn('started_at', 'bigint', (column) => column.notNull())
        .addColumn('seen_at', 'bigint', (column) => column.notNull())
        .addColumn('report', 'bigint', (column) => column.notNull())
        .addColumn('listeners', 'integer', (column) => column.notNull())
        .execute()
      await db.schema
        .createTable('node_listeners')
        .addColumn('node', text, (column) => column.notNull())
        .addColumn('id', 'integer', (column) => column.notNull())
        .addColumn('address', text, (column) => column.notNull())
        .addColumn('state', 'text', (column) => column.notNull())
        .addColumn('report', 'bigint', (column) => column.notNull())
        .addColumn('status', 'text', (column) => column.notNull())
        .addColumn('asked', 'text')
        .addPrimaryKeyConstraint('node_listeners_key', ['node', 'id'])
        .execute()
      await db.schema
        .createIndex('node_listeners_by_address')
        .on('node_listeners')
        .column('address')
        .execute()
      if (engine === 'postgres') await sendNotices(db)
    },
  }
}

async function sendNotices(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function gatehouse_notice() returns trigger language plpgsql as $$
    begin
      perform pg_notify('gatehouse', tg_argv[0]);
      -- The revision's lock lets one change of the whole store pass at a time: a node that stops in the
      -- middle of one must not keep the others waiting.
      if tg_argv[0] = 'changes' then
        perform set_config('idle_in_transaction_session_timeout', '5000', true);
      end if;
      return null;
    end $$`.execute(db)
  await sql`
    create trigger counters_notice after update on counters
    for each row execute function gatehouse_notice('changes')`.execute(db)
  for (const table of ['sessions', 'tokens']) {
    await sql`
      create trigger ${sql.ref(`${table}_notice`)} after delete on ${sql.table(table)}
      for each row execute function gatehouse_notice('access')`.execute(db)
  }
}
