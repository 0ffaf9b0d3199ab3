import { expect, it } from 'vitest'
import { PAGE } from '../contract/document.ts'
import { createDocuments } from './documents.ts'
import type { DocumentRepository } from './repository.ts'

/** How many documents were asked of the store for a page. */
async function askedFor(filter: [string, string][], limit: number): Promise<number[]> {
  const asked: number[] = []
  const repository: Pick<DocumentRepository, 'list'> = {
    async list(_where, _after, most) {
      asked.push(most)
      return []
    },
  }
  const documents = createDocuments(
    repository as DocumentRepository,
    () => 0,
    () => undefined,
  )
  await documents.page({ database: 'a', collection: 'b' }, filter, undefined, limit)
  return asked
}

it('reads no more of a collection than a page needs, unless a filter may pass over many', async () => {
  expect(await askedFor([], 1)).toEqual([2])
  expect(await askedFor([['author', 'ada']], 1)).toEqual([PAGE.most])
})
