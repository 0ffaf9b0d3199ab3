import fc from 'fast-check'
import type { CollectionRef } from '../../storage/document-ref.ts'
import type { Documents } from '../documents.ts'
import { contents, type Document, patch } from './queries.testing.ts'
import { patchByReference } from './reference.testing.ts'

/** Ids of the documents that other clients change. In id order, they are between the others. */
const IDS = ['0m', '12m', '3m', '9m'] as const

const ANY = { match: undefined, noneMatch: undefined }

/** A change of one document by another client. An absent document is created instead. */
export const change = fc.record({
  id: fc.constantFrom(...IDS),
  kind: fc.constantFrom('replace', 'patch', 'delete'),
  contents,
  patch,
  /** Whether the change is made while a page is read, and not before it. */
  isConcurrent: fc.boolean(),
})
export type Change = typeof change extends fc.Arbitrary<infer T> ? T : never

/** A document that is created, or replaced, during a page. */
export const CONCURRENT: Change = {
  id: '3m',
  kind: 'replace',
  contents: { a: 1 },
  patch: {},
  isConcurrent: true,
}

/** Returns whether no other client changes a document. */
export const isStable = ({ id }: Document): boolean => !IDS.some((each) => each === id)

/** Maximum number of documents that other clients add to a collection. */
export const MAX_OTHERS = IDS.length

/** Creates the documents of a collection, and changes some of them as other clients do. */
export function createOtherClients(documents: Documents, where: CollectionRef) {
  const current = new Map<string, Document>()
  const versions: Document[] = []
  function set(document: Document): string {
    versions.push(document)
    current.set(document.id as string, document)
    return JSON.stringify(document)
  }
  return {
    /** The current documents by id, with the change in progress. */
    current: current as ReadonlyMap<string, Document>,
    /** All states that documents have had. */
    versions: versions as readonly Document[],
    async create(document: Document): Promise<void> {
      await documents.create(where, set(document))
    },
    async make({ id, kind, contents, patch }: Change): Promise<void> {
      const ref = { ...where, id }
      const before = current.get(id)
      if (before === undefined) {
        await documents.create(where, set({ ...contents, id }))
      } else if (kind === 'replace') {
        await documents.replace(ref, set({ ...contents, id }), ANY)
      } else if (kind === 'patch') {
        set(patchByReference(before, patch))
        await documents.patch(ref, JSON.stringify(patch), ANY)
      } else {
        current.delete(id)
        await documents.delete(ref, ANY)
      }
    },
  }
}

export type OtherClients = ReturnType<typeof createOtherClients>
