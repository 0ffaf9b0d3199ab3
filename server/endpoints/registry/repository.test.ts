import { AsyncLocalStorage } from 'node:async_hooks'
import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { recordedChanges } from '../../audit/audit.testing.ts'
import { createRecorder } from '../../audit/record.ts'
import type { Actor } from '../../contract/audit.ts'
import type { Store } from '../../storage/store.ts'
import { forEachEngine, forEngine } from '../../storage/test-support/each-engine.testing.ts'
import { WAIT } from '../../test-support/wait.testing.ts'
import { deleteEndpoint, writeEndpoint } from './endpoint-writer.ts'
import { readEndpoints } from './repository.ts'

const ADDRESS = 'tcp://127.0.0.1:8530'
const actor: Actor = { name: 'github:1', by: 'token', address: '192.0.2.7' }
const by = { record: createRecorder(), actor }

const write = (store: Store, databases: string[]) =>
  writeEndpoint(store, { endpoint: ADDRESS, databases }, by)

forEachEngine((engine) => {
  test('each change of an endpoint is recorded with before and after', async () => {
    const store = await engine.open()
    await write(store, ['a'])
    await write(store, ['b', 'a'])
    await deleteEndpoint(store, ADDRESS, by)
    const row = { actor: 'github:1', target: ADDRESS, outcome: 'done' }
    const [a, ba] = ['{"databases":["a"]}', '{"databases":["b","a"]}']
    expect(await recordedChanges(store)).toEqual([
      { ...row, action: 'endpoint.add', before: 'null', after: a },
      { ...row, action: 'endpoint.map', before: a, after: ba },
      { ...row, action: 'endpoint.remove', before: ba, after: 'null' },
    ])
  })

  test('a request without effect is not recorded', async () => {
    const store = await engine.open()
    const revision = await write(store, ['a'])
    expect(await write(store, ['a'])).toBe(revision)
    expect(await deleteEndpoint(store, 'tcp://127.0.0.1:1', by)).toBe(false)
    expect(await recordedChanges(store)).toHaveLength(1)
  })

  test('a change that cannot be recorded is rolled back', async () => {
    const store = await engine.open()
    await write(store, ['a'])
    await sql`update audit set seq = 2`.execute(store.db)
    await expect(write(store, ['b'])).rejects.toThrow(/unique/i)
    await expect(deleteEndpoint(store, ADDRESS, by)).rejects.toThrow(/unique/i)
    const stored = await readEndpoints(store)
    expect(stored).toEqual([{ endpoint: ADDRESS, databases: ['a'], revision: 1 }])
  })

  test('writes and removals of one endpoint through two stores do not deadlock', async () => {
    const stores = [await engine.open('tool'), await engine.open('tool')] as const
    await Promise.all(
      Array.from({ length: 60 }, async (_, at) => {
        const store = stores[at % 2 === 0 ? 0 : 1]
        if (at % 3 === 0) await deleteEndpoint(store, ADDRESS, by)
        else await write(store, [`d${at}`])
      }),
    )
    // The "before" of each row equals the "after" of the previous row: changes do not interleave.
    const rows = await recordedChanges(stores[0])
    expect(rows.map(({ before }) => before)).toEqual([
      'null',
      ...rows.slice(0, -1).map(({ after }) => after),
    ])
  })
})

forEngine('postgres', (engine) => {
  test('a removal that waits for a change checks the result of that change', async () => {
    const stores = [await engine.open('tool'), await engine.open('tool')] as const
    const revision = await write(stores[0], ['_system'])
    const waits = async () => {
      const found = sql`select from pg_stat_activity where wait_event_type = 'Lock'
        and datname = current_database()`
      expect((await found.execute(stores[0].db)).rows).toHaveLength(1)
    }
    let removed: Promise<boolean> | undefined
    const outside = AsyncLocalStorage.snapshot()
    const guard = () =>
      outside(async () => {
        removed = deleteEndpoint(stores[1], ADDRESS, { ...by, expected: [String(revision)] })
        removed.catch(() => {})
        await vi.waitFor(waits, WAIT)
      })
    await writeEndpoint(stores[0], { endpoint: ADDRESS, databases: ['b'] }, { ...by, guard })
    await expect(removed).rejects.toMatchObject({ code: 'precondition-failed' })
    expect(await readEndpoints(stores[0])).toMatchObject([{ databases: ['b'] }])
  })
})
