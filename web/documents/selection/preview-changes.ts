import type { Json } from '../../../server/contract/json/json.ts'
import { mergePatch } from '../../../server/contract/json/merge-patch.ts'
import { parseJson } from '../../../server/contract/json/parse-json.ts'
import type { StoredDocument } from '../document-client.ts'
import { sortedJson } from '../editor/document-text.ts'
import { documentError } from '../editor/syntax-error.ts'

interface ParsedDocument {
  readonly document: StoredDocument
  readonly value: Json
  /** The document with sorted fields, to compare it. */
  readonly sorted: string
}

export interface PreviewedChange {
  readonly document: StoredDocument
  /** The document after the change. */
  readonly after: Json
}

/**
 * Parses documents for previews of patches. The returned function lists the documents that a patch
 * would change; none if its text is not a patch.
 */
export function previewChanges(
  documents: readonly StoredDocument[],
): (text: string) => readonly PreviewedChange[] {
  // Once, not for each patch while the user types.
  const parsed: readonly ParsedDocument[] = documents.map((document) => {
    const value = parseJson(document.json)
    return { document, value, sorted: sortedJson(value) }
  })
  return (text) => {
    if (documentError(text) !== undefined) return []
    const patch = parseJson(text)
    return parsed.flatMap(({ document, value, sorted }) => {
      const after = mergePatch(structuredClone(value), patch)
      return sortedJson(after) === sorted ? [] : [{ document, after }]
    })
  }
}
