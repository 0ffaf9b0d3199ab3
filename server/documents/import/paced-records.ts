import type { ImportRecord } from '../../contract/records/read-records.ts'
import type { NextTurn } from '../../storage/changes/turns.ts'

/**
 * Yields the parts of an import, each in a turn of its own, so that other requests run between them.
 * Omits empty ones, which blank lines cause.
 */
export async function* pacedRecords(
  parts: AsyncIterable<readonly ImportRecord[]>,
  nextTurn: NextTurn,
): AsyncGenerator<readonly ImportRecord[], void> {
  for await (const part of parts) {
    await nextTurn()
    if (part.length > 0) yield part
  }
}
