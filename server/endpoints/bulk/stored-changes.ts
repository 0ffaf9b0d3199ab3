import { createTimeSlice } from '../../concurrency/time-slice.ts'
import type { NextTurn } from '../../concurrency/turns.ts'
import {
  type EndpointChangeInput,
  endpointChange,
} from '../../contract/endpoints/endpoint-change.ts'
import { parseJson } from '../../contract/json/parse-json.ts'
import { parseColumn } from '../../storage/sql/parse-column.ts'

/** Prints the changes of a bulk change as JSON, up to 4 MiB, in slices. */
export async function printChanges(
  changes: readonly EndpointChangeInput[],
  nextTurn: NextTurn,
): Promise<string> {
  const slice = createTimeSlice(nextTurn)
  const printed: string[] = []
  for (const change of changes) {
    printed.push(JSON.stringify(change))
    await slice()
  }
  return `[${printed.join(',')}]`
}

/** Parses the stored changes of a bulk change in slices. */
export async function parseChanges(
  text: string,
  nextTurn: NextTurn,
): Promise<EndpointChangeInput[]> {
  const slice = createTimeSlice(nextTurn)
  const changes: EndpointChangeInput[] = []
  for (const change of parseJson(text) as unknown[]) {
    changes.push(parseColumn(endpointChange, 'endpoint_changes.changes', change))
    await slice()
  }
  return changes
}
