import { expect, it } from 'vitest'
import { createTestRules } from '../documents/document-rules.testing.ts'
import { Failure } from '../failure.ts'
import { StoreUnavailable } from '../storage/availability/unavailable.ts'
import { storeDatabases } from '../storage/test-support/databases.testing.ts'
import { forEngine } from '../storage/test-support/each-engine.testing.ts'
import { createBeginImport } from './import-job.ts'
import type { DocumentRules } from './job.ts'
import { createJobRepository } from './job-repository.ts'
import { createTestJobs } from './jobs.testing.ts'

const where = { database: '_system', collection: 'articles' }

forEngine('sqlite', (engine) => {
  it('fails at once if a part fails after some of its documents are stored', async () => {
    const store = await engine.open()
    const errors: unknown[] = []
    const result = { created: 1, replaced: 0, skipped: 0, failed: 0, errors: [] }
    const importPart: DocumentRules['importPart'] = async (_, __, { commit }) => {
      await store.transaction((trx) => commit(trx, { line: 1, result, done: 1 }))
      throw new Failure('busy', 'The second transaction failed.')
    }
    const jobs = createTestJobs(store, {
      now: Date.now,
      pause: async () => {},
      rules: { ...createTestRules(Date.now), importPart },
      onError: (error) => errors.push(error),
    })
    async function* parts() {
      yield { text: '[]', records: 2 }
    }
    const { id } = await jobs.beginImport(where, { onConflict: 'fail' }, parts())
    const expected = { state: 'failed', done: 1, found: 1, result, failure: { code: 'busy' } }
    await expect.poll(() => jobs.read('_system', id)).toMatchObject(expected)
    await jobs.stop()
    expect(errors).toEqual([])
  })

  it('reports the error of a body although the job cannot be deleted', async () => {
    const repository = createJobRepository(await engine.open(), Date.now)
    const beginImport = createBeginImport({
      repository: { ...repository, discard: () => Promise.reject(new StoreUnavailable()) },
      pause: async () => {},
      wake() {},
    })
    async function* parts() {
      yield { text: '[]', records: 1 }
      throw new Failure('bad-json', 'The second line is no document.')
    }
    const importing = beginImport(where, { onConflict: 'fail' }, parts())
    await expect(importing).rejects.toMatchObject({ code: 'bad-json' })
  })

  it.each([
    ['was dropped', 'b', 'database-not-found'],
    ['exists', '_system', 'unavailable'],
  ])(
    'fails if its job is discarded while the body arrives and the database %s',
    async (_, database, code) => {
      const store = await engine.open()
      const repository = createJobRepository(store, Date.now)
      const deps = { repository, pause: async () => {}, wake() {} }
      const beginImport = createBeginImport(deps)
      async function* parts() {
        yield { text: '[]', records: 1 }
        // Another node discards it.
        await store.db.updateTable('jobs').set({ state: 'discarded' }).execute()
      }
      const importing = beginImport({ ...where, database }, { onConflict: 'fail' }, parts())
      await expect(importing).rejects.toMatchObject({ code })
    },
  )

  it('fails if the database is dropped while the body arrives', async () => {
    const store = await engine.open()
    await storeDatabases(store, 'b')
    const repository = createJobRepository(store, Date.now)
    const deps = { repository, pause: async () => {}, wake() {} }
    async function* parts() {
      yield { text: '[]', records: 1 }
      await store.db.deleteFrom('databases').execute()
    }
    const target = { ...where, database: 'b' }
    const importing = createBeginImport(deps)(target, { onConflict: 'fail' }, parts())
    await expect(importing).rejects.toMatchObject({ code: 'database-not-found' })
    const states = await store.db.selectFrom('jobs').select('state').execute()
    expect(states).toEqual([{ state: 'discarded' }])
  })
})
