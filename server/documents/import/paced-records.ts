import type { ImportRecord } from '../../contract/records/read-records.ts'
import { createTurns } from '../../storage/changes/turns.ts'

const nextTurn = createTurns()

/**
 * Yields the parts of an import, each in a turn of the event loop without parts of others, so that other requests run between them.
 * Omits empty ones, which blank lines cause.
 */
export async function* pacedRecords(
  parts: AsyncIterable<readonly ImportRecord[]>,
): AsyncGenerator<readonly ImportRecord[], void> {
  for await (const part of parts) {
    await nextTurn()
    if (part.length > 0) yield part
  }
}
