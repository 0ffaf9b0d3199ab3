import { nextTurn } from '../../concurrency/turns.ts'
import type { ImportRecord } from '../../contract/records/import-record.ts'

/**
 * Yields the parts of an import, at most one part of all imports in a turn of the event loop, so
 * that other requests run between them. Omits empty parts, which blank lines cause.
 */
export async function* pacedRecords(
  parts: AsyncIterable<readonly ImportRecord[]>,
): AsyncGenerator<readonly ImportRecord[], void> {
  for await (const part of parts) {
    await nextTurn()
    if (part.length > 0) yield part
  }
}
