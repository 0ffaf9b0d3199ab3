import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { forEachEngine } from '../storage/test-support/each-engine.testing.ts'
import { entry, recordAll } from './audit.testing.ts'
import { createRecorder, recordRejection } from './record.ts'
import { verifyChain } from './verify.ts'

forEachEngine((engine) => {
  test('stores actor, address, action, before and after', async () => {
    const store = await engine.open()
    const change = entry({ action: 'endpoint.map', before: { databases: ['a'] } })
    await recordAll(
      store,
      [change],
      createRecorder(() => 42),
    )
    const rows = await store.db.selectFrom('audit').selectAll().execute()
    expect(rows).toEqual([
      {
        seq: 1,
        at: 42,
        actor: 'github:1',
        by: 'session',
        address: '192.0.2.7',
        action: 'endpoint.map',
        target: 'blog',
        outcome: 'done',
        before: '{"databases":["a"]}',
        after: '{}',
        // Computed with sha256sum. The hashed format is released and must not change.
        change: null,
        token: null,
        hash: '0202b2e10d310920855f3ddd87d1f3faed0ddcb1fc3754472178a9caa8d3b17b',
      },
    ])
  })

  test('builds one chain from 50 concurrent transactions through two stores', async () => {
    const stores = await Promise.all([engine.open('tool'), engine.open('tool')])
    const record = createRecorder()
    await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        stores[at % 2]?.change(async (trx) => {
          await trx
            .insertInto('databases')
            .values({ name: `d${at}`, created_at: 0 })
            .execute()
          await record(trx, entry({ target: `d${at}` }))
        }),
      ),
    )
    const [store] = stores
    const rows = await store.db.selectFrom('audit').selectAll().orderBy('seq').execute()
    expect(rows.map(({ seq }) => seq)).toEqual(Array.from({ length: 50 }, (_, at) => at + 1))
    expect(new Set(rows.map(({ target }) => target)).size).toBe(50)
    expect(await verifyChain(store)).toEqual({ intact: true, seq: 50, hash: rows.at(-1)?.hash })
  })

  test('rolls back a change whose record cannot be written', async () => {
    const store = await engine.open()
    await recordAll(store, [entry()])
    // Occupy the sequence number of the next row.
    await sql`update audit set seq = 2`.execute(store.db)
    const change = store.change(async (trx) => {
      await trx.insertInto('databases').values({ name: 'blog', created_at: 0 }).execute()
      await createRecorder()(trx, entry())
    })
    await expect(change).rejects.toThrow(/unique/i)
    expect(await store.db.selectFrom('databases').selectAll().execute()).toEqual([])
    expect(await store.db.selectFrom('audit_head').select('seq').execute()).toEqual([{ seq: 1 }])
  })

  test('leaves no record of a change that is rolled back', async () => {
    const store = await engine.open()
    const change = store.change(async (trx) => {
      await createRecorder()(trx, entry())
      throw new Error('undone')
    })
    await expect(change).rejects.toThrow('undone')
    expect(await verifyChain(store)).toEqual({ intact: true, seq: 0, hash: '' })
  })

  test('records a rejection in a separate transaction', async () => {
    const store = await engine.open()
    await recordRejection(store, entry({ target: 'x' }))
    expect(await store.db.selectFrom('audit').select(['outcome', 'target']).execute()).toEqual([
      { outcome: 'refused', target: 'x' },
    ])
  })

  test('stores any text as a valid row', async () => {
    const store = await engine.open()
    const strange = ['\0', '\u{D800}', 'é\u{301}\u{1F600}"\\\n', 'x'.repeat(100_000)]
    await recordAll(
      store,
      strange.map((text) =>
        entry({
          actor: { name: text, by: 'token', token: text, address: text },
          target: text,
          after: { text },
        }),
      ),
    )
    expect(await verifyChain(store)).toMatchObject({ intact: true, seq: strange.length })
    const [first, second, third, long] = await store.db
      .selectFrom('audit')
      .select(['target', 'after'])
      .orderBy('seq')
      .execute()
    expect([first?.target, second?.target]).toEqual(['\u{FFFD}', '\u{FFFD}'])
    expect(third?.target).toBe('é\u{301}\u{1F600}"\\\u{FFFD}')
    expect(long?.target).toHaveLength(1_024)
    expect(strange.map((text) => ({ text }))).toContainEqual(JSON.parse(first?.after ?? ''))
  })
})
