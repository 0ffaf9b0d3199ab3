import { AsyncLocalStorage } from 'node:async_hooks'
import { afterAll, describe, expect, it } from 'vitest'
import { createRecorder, START } from '../../audit/record.ts'
import { createSchemaChecker } from '../../documents/schemas/schema-checker.ts'
import { createSchemas, type Schemas } from '../../documents/schemas/schemas.ts'
import { forEngine } from '../../storage/test-support/each-engine.testing.ts'
import { createJobsFixture, everything, where } from './jobs-fixture.testing.ts'

forEngine('sqlite', (engine) => {
  const fixture = createJobsFixture(engine)
  const { node, ended, insert, stored, after } = fixture

  describe('a schema that is set while a job runs', () => {
    const checker = createSchemaChecker()
    afterAll(() => checker.close())
    const put = (schemas: Schemas, type: string) => {
      const schema = `{"properties":{"n":{"type":"${type}"}}}`
      const on = { record: createRecorder(), actor: START, target: 'x/c' }
      return schemas.put(where, schema, { match: undefined, noneMatch: undefined }, on)
    }

    it('applies to the documents that a job has not changed yet', async () => {
      await insert(2_500)
      const schemas = createSchemas(fixture.store, checker)
      const outside = AsyncLocalStorage.snapshot()
      let steps = 0
      const jobs = node(async () => {
        if (++steps === 2) await outside(() => put(schemas, 'string'))
      }, schemas.current)
      const job = await ended(
        jobs,
        await jobs.begin(where, 'patch', { ...everything, patch: '{"on":true}' }),
      )
      expect(job).toMatchObject({ state: 'done', result: { failed: 2_500 - job.found } })
      expect(job.found).toBeGreaterThan(0)
      expect(job.found).toBeLessThan(2_500)
      expect((await stored()).filter(({ on }) => on)).toHaveLength(job.found)
      await jobs.stop()
    })

    it('applies to a change of few documents', async () => {
      await insert(600)
      const schemas = createSchemas(fixture.store, checker)
      const jobs = node(
        after(1, () => put(schemas, 'string')),
        schemas.current,
      )
      await expect(
        jobs.change(
          where,
          'patch',
          { ...everything, patch: '{"on":true}' },
          'caller',
          new AbortController().signal,
        ),
      ).rejects.toMatchObject({ code: 'invalid' })
      expect((await stored()).filter(({ on }) => on === true)).toEqual([])
    })

    it('fails a change of few documents if it keeps changing', async () => {
      await insert(10)
      const schemas = createSchemas(fixture.store, checker)
      let type = 0
      const jobs = node(
        () => put(schemas, ['number', 'integer'][++type % 2] ?? ''),
        schemas.current,
      )
      await expect(
        jobs.change(
          where,
          'patch',
          { ...everything, patch: '{"on":true}' },
          'caller',
          new AbortController().signal,
        ),
      ).rejects.toMatchObject({ code: 'busy' })
      expect((await stored()).filter(({ on }) => on)).toEqual([])
    })
  })
})
