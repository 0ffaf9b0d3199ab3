import { expect } from 'vitest'
import type { Store } from '../../../storage/store.ts'
import { toDefinition } from '../definition.ts'
import { keyOfValues, valuesOf } from '../index-key.ts'

/** Checks that the indexes of the only collection have exactly the entries of its documents. */
export async function expectEntriesOfDocuments({ db }: Store): Promise<void> {
  const rows = await db.selectFrom('document_indexes').selectAll().execute()
  const documents = await db.selectFrom('documents').select(['id', 'body']).execute()
  const entries = await db.selectFrom('index_entries').selectAll().execute()
  const print = (index: number, key: Uint8Array, id: string) =>
    `${index} ${Buffer.from(key).toString('hex')} ${id}`
  const expected = rows.map(toDefinition).flatMap(({ id: index, fields }) =>
    documents.map(({ id, body }) => {
      const key = keyOfValues(valuesOf(JSON.parse(body), fields), fields)
      return print(index, key.bytes, id)
    }),
  )
  const found = entries.map(({ index_id, key, id }) => print(index_id, key, id))
  expect(found.sort()).toEqual(expected.sort())
}
