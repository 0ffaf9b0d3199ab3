import { beforeEach, describe, expect, it } from 'vitest'
import { resolveOutcome } from '../../../storage/availability/resolve-outcome.ts'
import { OutcomeUnknown } from '../../../storage/availability/unavailable.ts'
import type { RowStatement } from '../../../storage/engine.ts'
import type { Store } from '../../../storage/store.ts'
import { forEachEngine } from '../../../storage/test-support/each-engine.testing.ts'
import { openIndexesOf } from '../../indexes/build/build-indexes.testing.ts'
import { readStored } from '../read-stored.testing.ts'
import { createDocumentRepository, type DocumentRepository } from '../stored-documents.ts'

const ref = { database: '_system', collection: 'articles', id: 'a' }

describe('a change whose response was lost', () => {
  const lost = () => Promise.reject(new OutcomeUnknown())

  it('succeeds once it is found, also if it arrives late', async () => {
    let looks = 0
    expect(await resolveOutcome(lost(), async () => (++looks === 3 ? 'made' : undefined))).toBe(
      'made',
    )
  })

  it('stays unknown if it is not found or cannot be looked up', async () => {
    await expect(resolveOutcome(lost(), async () => undefined)).rejects.toThrow(OutcomeUnknown)
    await expect(resolveOutcome(lost(), lost)).rejects.toThrow(OutcomeUnknown)
  })

  it('is not looked up if the change succeeded or was rejected', async () => {
    const find = () => expect.unreachable()
    expect(await resolveOutcome(Promise.resolve(1), find)).toBe(1)
    const refused = Promise.reject(new Error('refused'))
    await expect(resolveOutcome(refused, find)).rejects.toThrow('refused')
  })
})

forEachEngine((engine) => {
  let store: Store
  let repository: DocumentRepository
  /**
   * Returns a repository whose prepared changes are never acknowledged; `made` says whether they
   * take effect.
   */
  const forgetful = (made: boolean): DocumentRepository => {
    const losing =
      <P extends readonly unknown[]>(run: (...parameters: P) => Promise<unknown>) =>
      async (...parameters: P) => {
        if (made) await run(...parameters)
        throw new OutcomeUnknown()
      }
    const { prepareChange } = store
    return createDocumentRepository({
      ...store,
      prepare(query) {
        const run = store.prepare(query)
        return /^select/i.test(query.sql) ? run : losing(run)
      },
      ...(prepareChange && {
        prepareChange: (statement: RowStatement) => losing(prepareChange(statement)),
      }),
    })
  }

  beforeEach(async () => {
    store = await engine.open()
    repository = createDocumentRepository(store)
  })

  it('an unconfirmed change is found by its tag', async () => {
    const first = await forgetful(true).insert(ref, [{ id: 'a', body: '{"n":1}' }])
    const stored = await readStored(repository, ref)
    expect(first).toEqual({ tags: [stored.tag] })
    const next = await forgetful(true).update(ref, stored, '{"n":2}')
    expect(await repository.read(ref)).toEqual({ id: 'a', tag: next, body: '{"n":2}' })
  })

  it('an unconfirmed change in a collection with an index is found by its tag', async () => {
    const indexes = openIndexesOf(store)
    await indexes.put(ref, 'by-n', ['n'])
    await indexes.build()
    const confused = forgetful(true)
    // A transaction, from which the repository knows the index.
    const many = ['a', 'b'].map((id) => ({ id, body: '{"n":1}' }))
    await confused.insert(ref, many)
    const stored = await readStored(repository, ref)
    const tag = await confused.update(ref, stored, '{"n":2}')
    const next = await readStored(repository, ref)
    expect(next).toEqual({ id: 'a', tag, body: '{"n":2}' })
    expect(await confused.delete(ref, next)).toBe(true)
    expect(await repository.read(ref)).toBeUndefined()
  })

  it('an unconfirmed transaction that keeps all documents is known to change nothing', async () => {
    await repository.insert(ref, [{ id: 'a', body: '{}' }])
    const transaction: Store['transaction'] = async (...parameters) => {
      await store.transaction(...parameters)
      throw new OutcomeUnknown()
    }
    const silent = createDocumentRepository({ ...store, transaction })
    const documents = [{ id: 'a', body: '{"n":1}' }]
    expect(await silent.write(ref, documents, { replaces: false })).toEqual(['exists'])
    // Rows that the callback stored may be lost.
    const withCallback = silent.write(ref, documents, { replaces: false, commit: async () => {} })
    await expect(withCallback).rejects.toThrow(OutcomeUnknown)
    expect(await silent.write(ref, documents, { replaces: true })).toEqual(['replaced'])
    const lost = async () => Promise.reject(new OutcomeUnknown())
    const disconnected = createDocumentRepository({ ...store, transaction: lost })
    await expect(disconnected.write(ref, documents, { replaces: false })).rejects.toThrow(
      OutcomeUnknown,
    )
  })

  it('a document of another client is not taken for the one that was sent', async () => {
    await repository.insert(ref, [{ id: 'a', body: '{"n":1}' }])
    const stored = await readStored(repository, ref)
    const silent = forgetful(false)
    await expect(silent.insert(ref, [{ id: 'a', body: '{}' }])).rejects.toThrow(OutcomeUnknown)
    await expect(silent.update(ref, stored, '{}')).rejects.toThrow(OutcomeUnknown)
    expect((await repository.read(ref))?.body).toBe('{"n":1}')
  })
})
