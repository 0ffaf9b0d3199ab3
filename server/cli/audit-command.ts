import { type KnownRow, verifyChain } from './audit/verify.ts'
import { Failure } from './failure.ts'
import type { Store } from './storage/open.ts'

/**
 * Checks the whole audit log and answers how many rows fit, and the hash of the last one:
 * `118:3fa9…`. Kept somewhere else and given as `last` the next time, it proves that none of these
 * rows was cut off or rewritten since.
 *
 * @param last as it was answered, or the hash alone.
 * @throws Failure `conflict` with a sentence that names the first row that does not fit;
 * `bad-parameter` for a `last` that is none.
 */
export async function verifyAuditLog(store: Store, last: string | undefined): Promise<string> {
  const verdict = await verifyChain(store, last === undefined ? undefined : readKnownRow(last))
  if (!verdict.fits) throw new Failure('conflict', verdict.reason)
  return `${verdict.seq}:${verdict.hash}`
}

function readKnownRow(text: string): KnownRow {
  // An empty log has no last hash: `0:`.
  const [, seq, hash] = /^(?:([1-9]\d{0,14}):)?([0-9a-f]{64})$/.exec(text) ?? []
  if (hash !== undefined) return { seq: seq === undefined ? undefined : Number(seq), hash }
  if (text === '0:') return { seq: 0, hash: '' }
  throw new Failure(
    'bad-parameter',
    '--last takes what the command printed before: 118:3fa9…, or the 64 digits of the hash.',
  )
}
