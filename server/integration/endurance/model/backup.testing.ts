import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { verifyChain } from '../../../audit/verify.ts'
import { createBackup } from '../../../storage/backup/create-backup.ts'
import { restore } from '../../../storage/backup/restore.ts'
import { openStore, type StoreLocation } from '../../../storage/open.ts'
import type { Store } from '../../../storage/store.ts'
import type { Body, Database, Model, Operation } from './model.testing.ts'

/**
 * Backs up the store beside the server, restores the backup into a data folder, and compares it
 * with the model.
 *
 * @param folder for the backup and the restored store.
 * @param admins the first endpoint of each node.
 */
export const backUp = (
  model: Model,
  location: StoreLocation,
  folder: string,
  admins: readonly string[],
): Operation => ({
  method: 'GET',
  path: '/_api/health/live',
  after: [model],
  async finish() {
    const paths = { backup: join(folder, 'backup'), data: join(folder, 'restored') }
    try {
      await createBackup({ location, folder: paths.backup, keys: [], version: '1.2.3' })
      await restore({
        location: { data: paths.data },
        folder: paths.backup,
        record: async () => {},
      })
      const store = await openStore({ data: paths.data }, 'tool')
      try {
        expect(await verifyChain(store)).toMatchObject({ intact: true })
        expect(await readStore(store, admins)).toEqual({
          databases: mapValues(model.databases, (each) => ({
            ...each,
            // A restored store builds its indexes again.
            indexes: mapValues(each.indexes, () => 'usable'),
          })),
          endpoints: model.endpoints,
        })
      } finally {
        await store.close()
      }
    } finally {
      for (const path of Object.values(paths)) rmSync(path, { recursive: true, force: true })
    }
  },
})

const mapValues = <T, U>(record: Readonly<Record<string, T>>, change: (value: T) => U) =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))

/** Reads the databases and endpoints of a store without a server. */
async function readStore(
  { db }: Store,
  admins: readonly string[],
): Promise<Pick<Model, 'databases' | 'endpoints'>> {
  const endpoints = await db.selectFrom('endpoints').selectAll().execute()
  const databases: Record<string, Database> = {}
  for (const { id, name } of await db.selectFrom('databases').selectAll().execute()) {
    const documents = await db
      .selectFrom('documents')
      .select(['id', 'body'])
      .where('database', '=', id)
      .execute()
    const indexes = await db
      .selectFrom('document_indexes')
      .select('name')
      .where('database', '=', id)
      .where('state', '!=', 'dropped')
      .execute()
    const schemas = await db
      .selectFrom('schemas')
      .select('body')
      .where('database', '=', id)
      .execute()
    databases[name] = {
      documents: Object.fromEntries(
        documents.map((each): [string, Body] => [each.id, JSON.parse(each.body)]),
      ),
      indexes: Object.fromEntries(indexes.map((each) => [each.name, 'usable'] as const)),
      schema: schemas[0] === undefined ? null : JSON.parse(schemas[0].body),
    }
  }
  return {
    databases,
    endpoints: Object.fromEntries(
      endpoints
        .filter(({ address }) => !admins.includes(address))
        .map((each): [string, string[]] => [each.address, JSON.parse(each.databases)]),
    ),
  }
}
