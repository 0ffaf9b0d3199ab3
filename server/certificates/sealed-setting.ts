import type * as z from 'zod/mini'
import { parseJsonColumn } from '../storage/sql/parse-column.ts'
import type { Store } from '../storage/store.ts'
import type { Vault } from '../storage/vault.ts'

/** Where a value with a private key is stored, encrypted, for all nodes. */
export interface SealedSetting<T> {
  readonly name: string
  readonly schema: z.ZodMiniType<T>
}

export async function readSealed<T>(
  { db }: Pick<Store, 'db'>,
  vault: Vault,
  { name, schema }: SealedSetting<T>,
): Promise<T | undefined> {
  const row = await db
    .selectFrom('settings')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirst()
  return row && parseJsonColumn(schema, 'settings.value', vault.decrypt(row.value, name))
}

/** @param onConflict whether a value that is stored already, possibly by another node, stays. */
export async function storeSealed<T>(
  { db }: Pick<Store, 'db'>,
  vault: Vault,
  { name }: SealedSetting<T>,
  data: T,
  onConflict: 'keep' | 'replace',
): Promise<void> {
  const value = vault.encrypt(JSON.stringify(data), name)
  await db
    .insertInto('settings')
    .values({ name, value })
    .onConflict((conflict) => {
      const onName = conflict.column('name')
      return onConflict === 'keep' ? onName.doNothing() : onName.doUpdateSet({ value })
    })
    .execute()
}
