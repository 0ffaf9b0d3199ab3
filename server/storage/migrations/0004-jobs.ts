import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { EngineName } from '../engine.ts'
import { codePointText } from './code-point-text.ts'

/** Creates the tables for background jobs, their input and their documents. */
export function jobs(engine: EngineName): Migration {
  const key = codePointText(engine)
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      await db.schema
        .createTable('jobs')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('database', 'text', (column) => column.notNull())
        .addColumn('collection', 'text', (column) => column.notNull())
        .addColumn('kind', 'text', (column) => column.notNull())
        .addColumn('state', 'text', (column) => column.notNull())
        .addColumn('request', 'text', (column) => column.notNull())
        .addColumn('cursor', 'text')
        .addColumn('done', 'integer', (column) => column.notNull())
        .addColumn('total', 'integer')
        .addColumn('found', 'integer', (column) => column.notNull())
        .addColumn('failure', 'text')
        .addColumn('clean', 'integer', (column) => column.notNull())
        .addColumn('claimed_by', 'text', (column) => column.notNull())
        .addColumn('claimed_until', 'bigint', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('updated_at', 'bigint', (column) => column.notNull())
        .execute()
      await db.schema.createIndex('jobs_by_state').on('jobs').column('state').execute()
      await db.schema
        .createTable('job_parts')
        .addColumn('job', 'text', (column) => column.notNull())
        .addColumn('part', 'integer', (column) => column.notNull())
        .addColumn('documents', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('job_parts_key', ['job', 'part'])
        .execute()
      await db.schema
        .createTable('job_documents')
        .addColumn('job', 'text', (column) => column.notNull())
        .addColumn('id', key, (column) => column.notNull())
        .addColumn('seen', 'text', (column) => column.notNull())
        .addColumn('tag', 'text', (column) => column.notNull())
        .addColumn('body', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('job_documents_key', ['job', 'id'])
        .execute()
    },
  }
}
