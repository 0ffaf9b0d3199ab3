import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Failure } from '../../../failure.ts'
import { CASES } from '../../../integration/endurance/settings.testing.ts'
import type { RowStatement } from '../../../storage/engine.ts'
import type { Store } from '../../../storage/store.ts'
import { forEachEngine } from '../../../storage/test-support/each-engine.testing.ts'
import { openIndexesOf } from '../../indexes/build/build-indexes.testing.ts'
import { expectEntriesOfDocuments } from '../../indexes/write/stored-entries.testing.ts'
import { createDocumentRepository, type DocumentRepository } from '../stored-documents.ts'

// Generated changes of few documents that run concurrently, on PostgreSQL through two nodes. The
// state of each document must be one that a successful change has made, the values of a unique index
// must be different, and the entries of indexes must be those of the documents.

const where = { database: '_system', collection: 'articles' }

const change = fc.record({
  verb: fc.constantFrom('insert', 'update', 'delete'),
  id: fc.integer({ min: 0, max: 9 }).map((n) => `d${n}`),
  fields: fc.record(
    { n: fc.integer({ min: 0, max: 12 }), author: fc.constantFrom('ada', 'bob') },
    { requiredKeys: [] },
  ),
})
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never

/** Bodies of documents by id. */
type State = ReadonlyMap<string, string | undefined>

/** Makes a change; returns the new body, or false if it was not made. */
async function make(repository: DocumentRepository, { verb, id, fields }: Change) {
  const ref = { ...where, id }
  const body = JSON.stringify({ id, ...fields })
  if (verb === 'insert') return 'tags' in (await repository.insert(where, [{ id, body }])) && body
  const found = await repository.read(ref)
  if (found === undefined) return false
  if (verb === 'update') return (await repository.update(ref, found, body)) !== undefined && body
  return (await repository.delete(ref, found)) ? undefined : false
}

async function readState({ db }: Store): Promise<State> {
  const rows = await db.selectFrom('documents').select(['id', 'body']).execute()
  return new Map(rows.map(({ id, body }) => [id, body]))
}

forEachEngine((engine) => {
  test(
    'documents and index entries agree after concurrent changes',
    async () => {
      const store = await engine.open()
      const stores = engine.name === 'sqlite' ? [store] : [store, await engine.open()]
      const made = new Map<string, number>()
      const repositories = stores.map((each) => createDocumentRepository(counting(each, made)))
      const indexes = openIndexesOf(store)
      await indexes.put(where, 'by-n', ['n'], true)
      await indexes.put(where, 'by-author', ['author', '-n'])
      await indexes.build()

      const scenario = async (rounds: readonly (readonly Change[])[]) => {
        await store.db.deleteFrom('index_entries').execute()
        await store.db.deleteFrom('documents').execute()
        let before = await readState(store)
        for (const changes of rounds) {
          const results = await Promise.allSettled(
            changes.map((each, at) =>
              make(repositories[at % repositories.length] as DocumentRepository, each),
            ),
          )
          const possible = new Map<string, Set<string | undefined>>()
          for (const [at, result] of results.entries()) {
            const { id } = changes[at] as Change
            if (result.status === 'rejected') {
              expect(result.reason).toBeInstanceOf(Failure)
              expect(result.reason.details).toMatchObject({ index: 'by-n' })
            } else if (result.value !== false) {
              possible.set(id, (possible.get(id) ?? new Set()).add(result.value))
            }
          }
          const after = await readState(store)
          for (const id of new Set([...before.keys(), ...after.keys()])) {
            expect([...(possible.get(id) ?? [before.get(id)])]).toContain(after.get(id))
          }
          const values = [...after.values()].flatMap((body) => JSON.parse(body ?? '').n ?? [])
          expect(values).toHaveLength(new Set(values).size)
          await expectEntriesOfDocuments(store)
          before = after
        }
      }
      const rounds = fc.array(fc.array(change, { minLength: 1, maxLength: 25 }), {
        minLength: 1,
        maxLength: 6,
      })
      await fc.assert(fc.asyncProperty(rounds, scenario), { numRuns: 10 * CASES })
      if (engine.name === 'sqlite') return
      for (const name of ['insert', 'update', 'delete']) {
        expect(made.get(`${name}-indexed-document`)).toBeGreaterThan(0)
      }
    },
    120_000 * CASES,
  )
})

/** Returns a store that counts the batched changes that were made, by statement. */
function counting(store: Store, made: Map<string, number>): Store {
  const { prepareChange } = store
  if (prepareChange === undefined) return store
  return {
    ...store,
    prepareChange(statement: RowStatement) {
      const make = prepareChange(statement)
      return async (...values) => {
        const isMade = await make(...values)
        if (isMade) made.set(statement.name, (made.get(statement.name) ?? 0) + 1)
        return isMade
      }
    },
  }
}
