import { expect, test, vi } from 'vitest'
import { TIME_SLICE } from '../concurrency/time-slice.ts'
import { createTurns } from '../concurrency/turns.ts'
import { createTestRules } from '../documents/document-rules.testing.ts'
import { createDocumentRepository } from '../documents/repository/repository.ts'
import { forEachEngine } from '../storage/test-support/each-engine.testing.ts'
import { createJobRepository } from './repository/repository.ts'
import { scanNext } from './scan.ts'

const where = { database: '_system', collection: 'articles' }
const now = () => 1_700_000_000_000
const nextTurn = createTurns()

forEachEngine((engine) => {
  test('a resumed job continues after its last document, although that was deleted', async () => {
    const store = await engine.open()
    const rules = createTestRules(now)
    const ids = Array.from({ length: 600 }, (_, n) => `d${1_000 + n}`)
    await createDocumentRepository(store).insert(
      where,
      ids.map((id) => ({ id, body: JSON.stringify({ id, a: 1 }) })),
    )
    const job = await createJobRepository(store, now).create({
      where,
      kind: 'list',
      state: 'attached',
      request: {
        filter: [['a', '1']],
      },
    })
    const deleted = 'd1589x'
    const step = await scanNext(store, rules, { ...job, cursor: deleted }, nextTurn, ids)
    expect(step).toMatchObject({ cursor: 'd1599', found: 10 })
    expect(
      await scanNext(store, rules, { ...job, cursor: 'd1599x' }, nextTurn, ids),
    ).toBeUndefined()
  })

  test('a step yields to other requests after each time slice', async () => {
    const store = await engine.open()
    await createDocumentRepository(store).insert(
      where,
      Array.from({ length: 20 }, (_, n) => ({ id: `d${n}`, body: `{"id":"d${n}"}` })),
    )
    const patch = '{"on":true}'
    const rules = createTestRules(now)
    let time = 0
    const slow: typeof rules.merger = async () => async (_id, body) => {
      time += TIME_SLICE / 2
      return body
    }
    const job = await createJobRepository(store, now).create({
      where,
      kind: 'patch',
      state: 'attached',
      request: {
        filter: [],
        patch,
      },
    })
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => time)
    let turns = 0
    const step = await scanNext(store, { ...rules, merger: slow }, job, async () => {
      turns++
    })
    clock.mockRestore()
    expect(step).toMatchObject({ found: 20 })
    // The last slice ends with the step.
    expect(turns).toBe(9)
  })

  test('a large patch is parsed in turns', async () => {
    let turns = 0
    const rules = createTestRules(now, {
      async nextTurn() {
        turns++
      },
    })
    const patch = JSON.stringify(Array.from({ length: 40 }, () => 'x'.repeat(20_000)))
    await rules.merger(where, `{"a":${patch}}`)
    expect(turns).toBeGreaterThan(5)
  })
})
