import { createHash } from 'node:crypto'

/** What a row's hash covers: every column as text, as it is stored. */
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
}

/**
 * The hash of a row, SHA-256 in hexadecimal: over the hash of the row before (empty for the first)
 * and a JSON array of the columns in this order, which is released and never changes.
 */
export function rowHash(previous: string, row: HashedColumns): string {
  const columns = [
    row.seq,
    row.at,
    row.actor,
    row.by,
    row.address,
    row.action,
    row.target,
    row.outcome,
    row.before,
    row.after,
  ]
  return createHash('sha256').update(previous).update(JSON.stringify(columns)).digest('hex')
}
