import pg from 'pg'
import { expect, test } from 'vitest'
import { forEngine } from '../../storage/test-support/each-engine.testing.ts'
import { onceAwaited } from '../../storage/test-support/lock-waits.testing.ts'
import { createJobsFixture, everything, where } from './jobs-fixture.testing.ts'

forEngine('postgres', (engine) => {
  const fixture = createJobsFixture(engine)

  test.each(['patch', 'delete'] as const)(
    'a %s in a deadlock with another transaction is repeated',
    async (kind) => {
      await fixture.insert(600)
      const other = new pg.Client((engine.location() as { databaseUrl: string }).databaseUrl)
      await other.connect()
      // PostgreSQL then ends the transaction of the job.
      await other.query("begin; set local deadlock_timeout = '30s'")
      await other.query("select 1 from documents where id = 'd10599' for update")
      const jobs = fixture.node()
      const changing = jobs.run(where, kind, { ...everything, patch: '{"on":true}' })
      changing.catch(() => {})
      await other.query(onceAwaited("perform 1 from documents where id = 'd10000' for update"))
      await other.query('rollback')
      await other.end()
      expect(await changing).toBe(600)
      const stored = await fixture.stored()
      expect(stored.filter(({ on }) => on)).toHaveLength(kind === 'patch' ? 600 : 0)
      await jobs.stop()
    },
  )
})
