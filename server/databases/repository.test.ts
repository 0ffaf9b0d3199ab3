import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { recordedChanges } from '../audit/audit.testing.ts'
import { createRecorder } from '../audit/record.ts'
import type { Actor } from '../contract/audit.ts'
import { forEachEngine } from '../storage/test-support/each-engine.testing.ts'
import { deleteDatabase, insertDatabase, readDatabases } from './repository.ts'

const actor: Actor = { name: 'github:1', by: 'session', address: '192.0.2.7' }
const by = { record: createRecorder(), actor }

forEachEngine((engine) => {
  test('creations and drops are recorded, requests without effect are not', async () => {
    const store = await engine.open()
    expect(await insertDatabase(store, 'blog', 1, by)).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{16}$/),
      revision: 1,
    })
    expect(await insertDatabase(store, 'blog', 2, by)).toBeUndefined()
    expect(await deleteDatabase(store, 'shop', by)).toBeUndefined()
    expect(await deleteDatabase(store, 'blog', by)).toBe(2)
    const row = { actor: 'github:1', target: 'blog', outcome: 'done' }
    expect(await recordedChanges(store)).toEqual([
      { ...row, action: 'database.create', before: 'null', after: '{}' },
      { ...row, action: 'database.drop', before: '{}', after: 'null' },
    ])
  })

  test('a change that cannot be recorded is rolled back', async () => {
    const store = await engine.open()
    await insertDatabase(store, 'blog', 1, by)
    await sql`update audit set seq = 2`.execute(store.db)
    await expect(insertDatabase(store, 'shop', 1, by)).rejects.toThrow(/unique/i)
    await expect(deleteDatabase(store, 'blog', by)).rejects.toThrow(/unique/i)
    const { ids, revision } = await readDatabases(store)
    expect([[...ids.keys()], revision]).toEqual([['blog'], 1])
  })
})
