import type { Manifest } from '../storage/backup/manifest.ts'
import { OPERATOR_KEY_FILE, SECRET_KEY_FILE } from '../storage/data-folder.ts'
import type { Config } from './config.ts'

/** Settings that name a store and its keys. */
export type BackupConfig = Pick<Config, 'data' | 'databaseUrl' | 'operatorKey' | 'secretKey'>

/** The environment variables that give a node its keys. */
export const KEY_VARIABLES = {
  [OPERATOR_KEY_FILE]: 'GATEHOUSE_OPERATOR_KEY',
  [SECRET_KEY_FILE]: 'GATEHOUSE_SECRET_KEY',
} as const

/** Returns what a backup contains, such as `12 documents and 1 endpoint (0.1 MB)`. */
export function contentsOf({ tables, files }: Manifest): string {
  const count = (table: string, name: string) => {
    const rows = tables[table] ?? 0
    return `${rows.toLocaleString('en')} ${name}${rows === 1 ? '' : 's'}`
  }
  const megabytes = (files['store.sqlite'].bytes / 1_000_000).toFixed(1)
  return `${count('documents', 'document')} and ${count('endpoints', 'endpoint')} (${megabytes} MB)`
}
