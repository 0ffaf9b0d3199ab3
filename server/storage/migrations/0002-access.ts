import { type CreateTableBuilder, type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { EngineName } from '../engine.ts'
import { codePointText } from './code-point-text.ts'

/**
 * Creates the tables for people, sessions, tokens, sign-ins, the audit log, failed attempts, the
 * local provider and settings.
 */
export function access(engine: EngineName): Migration {
  const key = codePointText(engine)
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      const table = (name: string) => db.schema.createTable(name)
      const required = columns('not null')
      const optional = columns('null')

      await optional(
        required(
          table('people').addColumn('id', key, (column) => column.primaryKey().notNull()),
          { provider: 'text', issuer: 'text', subject: 'text', username: 'text', role: 'text' },
          { created_at: 'bigint' },
        ),
        { name: 'text', last_sign_in_at: 'bigint', access_token: 'text', refresh_token: 'text' },
        { token_expires_at: 'bigint' },
      )
        // Not by email address: only the id at the provider identifies a person.
        .addUniqueConstraint('people_identity', ['provider', 'issuer', 'subject'])
        .execute()

      await optional(
        required(
          table('sessions').addColumn('hash', 'text', (column) => column.primaryKey().notNull()),
          { id: 'text', person_id: 'text' },
          { created_at: 'bigint', last_seen_at: 'bigint', expires_at: 'bigint' },
        ),
        { address: 'text', user_agent: 'text', operator_key: 'text' },
        { access_token: 'text', refresh_token: 'text', token_expires_at: 'bigint' },
      )
        .addUniqueConstraint('sessions_id', ['id'])
        .addForeignKeyConstraint('sessions_person', ['person_id'], 'people', ['id'])
        .execute()
      await db.schema.createIndex('sessions_by_person').on('sessions').column('person_id').execute()

      await optional(
        required(
          table('sign_ins').addColumn('hash', 'text', (column) => column.primaryKey().notNull()),
          { provider: 'text', form: 'text', redirect_uri: 'text', exchange_uri: 'text' },
          { verifier: 'text', return_to: 'text', expires_at: 'bigint' },
        ),
        { nonce: 'text' },
      ).execute()

      await optional(
        required(
          table('tokens').addColumn('id', key, (column) => column.primaryKey().notNull()),
          { name: 'text', prefix: 'text', hash: 'text', owner_id: 'text', role: 'text' },
          { created_at: 'bigint' },
        ),
        { databases: 'text', expires_at: 'bigint', last_used_at: 'bigint' },
      )
        .addUniqueConstraint('tokens_hash', ['hash'])
        .addForeignKeyConstraint('tokens_owner', ['owner_id'], 'people', ['id'])
        .execute()

      await optional(
        required(
          table('audit').addColumn('seq', 'bigint', (column) => column.primaryKey().notNull()),
          { at: 'bigint', actor: 'text', by: 'text', action: 'text', target: 'text' },
          { outcome: 'text', before: 'text', after: 'text', hash: 'text' },
        ),
        { address: 'text' },
      ).execute()
      await required(
        table('audit_head').addColumn('id', 'integer', (column) => column.primaryKey().notNull()),
        { seq: 'bigint', hash: 'text' },
      ).execute()
      await sql`insert into audit_head (id, seq, hash) values (1, 0, '')`.execute(db)

      await required(
        table('failures').addColumn('key', 'text', (column) => column.primaryKey().notNull()),
        { count: 'integer', expires_at: 'bigint' },
      ).execute()

      await optional(
        required(
          table('local_provider').addColumn('key', 'text', (column) =>
            column.primaryKey().notNull(),
          ),
          { payload: 'text' },
        ),
        { uid: 'text', grant_id: 'text', consumed_at: 'bigint', expires_at: 'bigint' },
      ).execute()

      await required(
        table('settings').addColumn('name', 'text', (column) => column.primaryKey().notNull()),
        { value: 'text' },
      ).execute()
    },
  }
}

type Columns = Readonly<Record<string, 'text' | 'bigint' | 'integer'>>
type Table = CreateTableBuilder<string, string>

/** Adds columns, all nullable or all not null. */
const columns =
  (nulls: 'null' | 'not null') =>
  (table: Table, ...groups: Columns[]): Table =>
    groups
      .flatMap((group) => Object.entries(group))
      .reduce<Table>(
        (made, [name, type]) =>
          made.addColumn(name, type, (column) => (nulls === 'null' ? column : column.notNull())),
        table as Table,
      )
