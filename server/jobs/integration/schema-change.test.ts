import { AsyncLocalStorage } from 'node:async_hooks'
import { afterAll, describe, expect, it } from 'vitest'
import { createRecorder, START } from '../../audit/record.ts'
import { createSchemaChecker } from '../../documents/schemas/schema-checker.ts'
import {
  type CurrentSchemaOf,
  createSchemas,
  type Schemas,
} from '../../documents/schemas/schemas.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { createJobsFixture, documents, everything, text, where } from './jobs-fixture.testing.ts'

forEachEngine((engine) => {
  const fixture = createJobsFixture(engine)
  const { node, ended, insert, created, stored, after } = fixture

  describe('a schema that is set while a job runs', () => {
    const checker = createSchemaChecker()
    afterAll(() => checker.close())
    const put = (schemas: Schemas, type: string) => {
      const schema = `{"properties":{"n":{"type":"${type}"}}}`
      const on = { record: createRecorder(), actor: START, target: 'x/c' }
      return schemas.put(where, schema, { match: undefined, noneMatch: undefined }, on)
    }

    it.each([
      ['the array arrives', 'string', 1],
      ['the array arrives', 'number', 1],
      ['the documents are stored', 'string', 2],
      ['the documents are stored', 'number', 2],
    ])('applies to an array while %s: n is a %s', async (_, type, requested) => {
      const schemas = createSchemas(fixture.store, checker)
      let times = 0
      const schemaOf: CurrentSchemaOf = (collection) => {
        times++
        return schemas.current(collection)
      }
      let done: Promise<unknown> | undefined
      const outside = AsyncLocalStorage.snapshot()
      const jobs = node(async () => {
        if (times !== requested) return
        done ??= outside(() => put(schemas, type))
        await done
      }, schemaOf)
      const end = await ended(jobs, await created(jobs, documents(1_000, { text })))
      expect(done).toBeDefined()
      if (type === 'number') {
        expect(end).toMatchObject({ state: 'done', found: 1_000 })
        expect(await stored()).toHaveLength(1_000)
      } else {
        const message =
          '"d10000": This does not match the schema of its collection: /n must be string.'
        expect(end).toMatchObject({ state: 'failed', failure: { code: 'invalid', message } })
        expect(await stored()).toEqual([])
      }
      await jobs.stop()
    })

    it('applies to a patch of a collection', async () => {
      await insert(600)
      const schemas = createSchemas(fixture.store, checker)
      const change = () => put(schemas, 'string')
      const jobs = node(after(1, change), schemas.current)
      await expect(
        jobs.run(where, 'patch', { ...everything, patch: '{"on":true}' }),
      ).rejects.toMatchObject({ code: 'invalid' })
      expect((await stored()).filter(({ on }) => on === true)).toEqual([])
      await jobs.stop()
    })

    it('fails the job if it keeps changing', async () => {
      const schemas = createSchemas(fixture.store, checker)
      const outside = AsyncLocalStorage.snapshot()
      const jobs = node(() => outside(() => put(schemas, 'number')), schemas.current)
      const end = await ended(jobs, await created(jobs, documents(1_000, { text })))
      expect(end).toMatchObject({ state: 'failed', failure: { code: 'busy' } })
      expect(await stored()).toEqual([])
      await jobs.stop()
    })
  })
})
