import { PAGE } from '../../contract/document.ts'
import type { CollectionWrites } from '../../storage/changes/collection-writes.ts'
import { limitBytes } from '../../storage/changes/limit-bytes.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import { NotUnique } from '../indexes/write/collection-indexes.ts'
import { type DocumentRepository, readOneByOne } from './stored-documents.ts'

/**
 * Combines the stored documents with changes that are committed but not yet applied to all of them;
 * see `storage/changes/collection-writes.ts`. Without such changes, it only counts the writes.
 */
export function withUnapplied(
  stored: DocumentRepository,
  writes: CollectionWrites,
): DocumentRepository {
  /** Repeats a write that a unique index rejects if a change of the other document is committed. */
  async function retry<T>(where: CollectionRef, write: () => Promise<T>): Promise<T> {
    try {
      return await write()
    } catch (error) {
      const { document = '' } = error instanceof NotUnique ? error.details : {}
      const change = writes.unapplied(where)
      if (change === undefined || change.creates) throw error
      if ((await change.read(document)) === undefined) throw error
      await writes.whenApplied(where)
      return write()
    }
  }

  const extent: DocumentRepository['extent'] = async (where, range, limit, maxBytes) => {
    const change = writes.unapplied(where)
    if (change === undefined) return stored.extent(where, range, limit, maxBytes)
    const { rows, end } = await change.sizes(range, limit)
    const fit = limitBytes(rows, maxBytes)
    const bytes = rows.slice(0, fit).reduce((sum, row) => sum + row.bytes, 0)
    if (fit < rows.length) return { last: rows[fit - 1]?.id, bytes }
    return { last: rows.length === limit ? undefined : end, bytes }
  }

  const read: DocumentRepository['read'] = (ref) => {
    const change = writes.unapplied(ref)
    if (change === undefined) return stored.read(ref)
    return change.read(ref.id).then((found) => {
      if (found === undefined) return stored.read(ref)
      return found === 'deleted' ? undefined : found
    })
  }

  return {
    ...stored,
    read,
    readEach: readOneByOne(read),
    async list(where, range, limit) {
      const change = writes.unapplied(where)
      return change === undefined ? stored.list(where, range, limit) : change.list(range, limit)
    },
    extent,
    scan: (where, range, maxBytes) => extent(where, range, PAGE.max, maxBytes),
    async count(where, after) {
      return writes.unapplied(where) === undefined ? stored.count(where, after) : undefined
    },
    // An index contains a change only once it is applied.
    indexes: {
      ...stored.indexes,
      ready(where) {
        return writes.unapplied(where) === undefined ? stored.indexes.ready(where) : []
      },
      isApplied: (where) => writes.unapplied(where) === undefined,
      async isReady(where, index) {
        return writes.unapplied(where) === undefined && stored.indexes.isReady(where, index)
      },
    },
    insert: (where, documents) =>
      retry(where, () =>
        writes.write(
          where,
          documents.map(({ id }) => id),
          () => stored.insert(where, documents),
        ),
      ),
    whenApplied: (where, signal) => writes.whenApplied(where, signal),
    isWritable: (where) => writes.isWritable(where),
    async write(where, documents, options) {
      // A deletion that is not applied yet would exclude documents from unique indexes.
      while (!writes.isWritable(where)) await writes.whenApplied(where)
      const ids = documents.map(({ id }) => id)
      return writes.write(where, ids, () => stored.write(where, documents, options))
    },
    update: (ref, old, body) =>
      retry(ref, () => writes.write(ref, [ref.id], () => stored.update(ref, old, body))),
    delete: (ref, old) => writes.write(ref, [ref.id], () => stored.delete(ref, old)),
    async collections(database) {
      // Read the changes first: a change that is applied before the names are read is then included.
      const unapplied = writes.unappliedIn(database)
      const names = await stored.collections(database)
      if (unapplied.length === 0) return names
      const found = new Set(names)
      for (const { collection, change } of unapplied) {
        if (await change.isEmpty()) found.delete(collection)
        else found.add(collection)
      }
      return [...found].sort()
    },
  }
}
