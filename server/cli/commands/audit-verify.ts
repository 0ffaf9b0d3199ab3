import * as z from 'zod/mini'
import { type KnownRow, verifyChain } from '../../audit/verify.ts'
import { Failure } from '../../failure.ts'
import type { Store } from '../../storage/store.ts'
import type { RunCommand } from '../command.ts'
import { withStore } from '../with-store.ts'

const input = z.object({ options: z.object({ last: z.optional(z.string()) }) })

export const run: RunCommand = async (context) => {
  const { last } = input.parse(context).options
  return [await withStore(context.config, (store) => verifyAuditLog(store, last))]
}

/**
 * Verifies the whole audit log. Returns the sequence number and hash of its last row: `118:3fa9…`.
 * Store this value elsewhere and pass it as `last` next time: it proves that none of these rows was
 * removed or rewritten.
 *
 * @param last an earlier result, or its hash alone.
 * @throws Failure `conflict` if the chain is broken, naming the first invalid row; `bad-parameter`
 * for a malformed `last`.
 */
export async function verifyAuditLog(store: Store, last: string | undefined): Promise<string> {
  const verdict = await verifyChain(store, last === undefined ? undefined : readKnownRow(last))
  if (!verdict.intact) throw new Failure('conflict', verdict.reason)
  return `${verdict.seq}:${verdict.hash}`
}

function readKnownRow(text: string): KnownRow {
  // `0:` stands for an empty log, which has no last hash.
  const [, seq, hash] = /^(?:([1-9]\d{0,14}):)?([0-9a-f]{64})$/.exec(text) ?? []
  if (hash !== undefined) return { seq: seq === undefined ? undefined : Number(seq), hash }
  if (text === '0:') return { seq: 0, hash: '' }
  throw new Failure(
    'bad-parameter',
    '--last must be the output of a previous run, such as 118:3fa9…, or its hash of 64 hexadecimal digits.',
  )
}
