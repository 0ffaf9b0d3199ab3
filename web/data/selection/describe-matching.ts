import { useQuery } from '@tanstack/react-query'
import { formatCount } from '../../ui/text/format-number.ts'
import { isolate } from '../../ui/text/with-name.tsx'
import { type Condition, describeCondition } from '../model/conditions.ts'
import { countQuery } from '../queries.ts'
import type { CollectionRef } from '../use-data-location.ts'

/** Returns the documents of a filter in words: "all 1,200 documents where author is ada". */
export function describeMatching(
  conditions: readonly Condition[],
  count: number | undefined,
): string {
  const many = count === undefined || count < 2 ? '' : `${formatCount(count)} `
  const documents = `all ${many}documents`
  if (conditions.length === 0) return `${documents} of the collection`
  const words = conditions.map((each) => describeCondition(each, isolate))
  return `${documents} where ${words.join(' and ')}`
}

/** Returns the number of documents that match; undefined until they are counted. */
export const useMatchingCount = (
  collectionRef: CollectionRef,
  filter: string | undefined,
  enabled = true,
): number | undefined => useQuery({ ...countQuery(collectionRef, filter), enabled }).data
