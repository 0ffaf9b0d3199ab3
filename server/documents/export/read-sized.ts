import { nextTurn } from '../../concurrency/turns.ts'
import { portionsOf } from '../../storage/changes/portions.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import { BATCH_BYTES } from '../repository/scan-batch.ts'
import type { Batches, ReadMatchingDeps } from './matching-document.ts'
import type { DocumentSize } from './snapshot-reader.ts'

/** Number of documents that are read together, if they are small. */
export const READ_BATCH = 500

/** Reads documents of known sizes, in their order. Large ones are read one by one. */
export async function* readSized(
  { reader, check }: ReadMatchingDeps,
  where: CollectionRef,
  sizes: Iterable<DocumentSize>,
): Batches {
  let some: DocumentSize[] = []
  for (const each of sizes) {
    if (some.push(each) < READ_BATCH) continue
    yield* read(some)
    some = []
  }
  yield* read(some)

  async function* read(some: readonly DocumentSize[]): Batches {
    for (const { rows } of portionsOf(some, { bytes: BATCH_BYTES })) {
      check()
      const ids = rows.map(({ id }) => id)
      const documents = await reader.indexes.documents(where, ids)
      yield ids.flatMap((id) => documents.get(id) ?? [])
      await nextTurn()
    }
  }
}
