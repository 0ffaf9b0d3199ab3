import { createHash } from 'node:crypto'

/** Columns covered by the hash of a row, as stored and converted to text. */
export interface HashedColumns {
  readonly seq: string
  readonly at: string
  readonly actor: string
  readonly by: string
  readonly address: string | null
  readonly action: string
  readonly target: string
  readonly outcome: string
  readonly before: string
  readonly after: string
  /** Id of the bulk change. Default: none. */
  readonly change?: string | null
}

/**
 * Returns the hash of a row: SHA-256 in hexadecimal, over the hash of the previous row (empty for
 * the first row) and a JSON array of the columns in this order. The format is released and must not
 * change. `change` was added later and is part of the array only if it is not null.
 */
export function rowHash(previous: string, row: HashedColumns): string {
  const columns = [row.seq, row.at, ...contentOf(row)]
  return createHash('sha256').update(previous).update(JSON.stringify(columns)).digest('hex')
}

/** Columns of a row that are known before its number. */
type HashedContent = Omit<HashedColumns, 'seq' | 'at'>

/** Returns the hashed columns that follow `seq` and `at`, in order. */
export const contentOf = (row: HashedContent): (string | null)[] => [
  row.actor,
  row.by,
  row.address,
  row.action,
  row.target,
  row.outcome,
  row.before,
  row.after,
  ...(row.change == null ? [] : [row.change]),
]
