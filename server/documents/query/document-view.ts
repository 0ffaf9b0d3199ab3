import { parseFields } from '../read-fields.ts'
import { badParameter } from './filter.ts'
import { parseDocumentQuery } from './query.ts'
import { createDocumentPrinter } from './select-fields.ts'

/** A document as a follower of changes sees it, by the filters and `fields` of a query. */
export interface DocumentView {
  /** Whether the query selects fields. */
  readonly hasFields: boolean
  /** Identifies equal queries. */
  readonly key: string
  /** Returns whether a stored document matches the filters. */
  matches(body: string): boolean | Promise<boolean>
  /** Returns the JSON of the selected fields; undefined if the disk is damaged. */
  print(body: string): string | undefined
}

/**
 * Parses the filters and `fields` of a request for changes.
 *
 * @throws Failure `bad-parameter`, also for parameters that change the order or the page.
 */
export function parseDocumentView(query: URLSearchParams): DocumentView {
  const { matches, fields, reads, sort, cursor } = parseDocumentQuery(query)
  if (sort.length > 0)
    throw badParameter('sort', 'Changes are in the order of their commit. Omit sort.')
  if (cursor !== undefined) throw badParameter('cursor', 'Use after instead of cursor.')
  if (query.has('export-as')) throw badParameter('export-as', 'Changes cannot be exported.')
  return {
    hasFields: fields !== undefined,
    key: query.toString(),
    matches(body) {
      if (matches === undefined) return true
      const document = parseFields(body, reads)
      return document !== undefined && matches(document)
    },
    print: createDocumentPrinter(fields),
  }
}
