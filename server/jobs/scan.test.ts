import { beforeEach, describe, expect, test, vi } from 'vitest'
import { TIME_SLICE } from '../concurrency/time-slice.ts'
import { createTurns } from '../concurrency/turns.ts'
import { createTestRules } from '../documents/document-rules.testing.ts'
import { createDocumentRepository } from '../documents/repository/repository.ts'
import { forEachEngine } from '../storage/test-support/each-engine.testing.ts'
import type { Step } from './repository/progress.ts'
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

  describe('a patch that is larger than a step', () => {
    const patch = JSON.stringify({ text: 'x'.repeat(300_000) })
    const matching = new Set<string>()

    /** Scans 600 documents; returns the steps and how often the patch was parsed. */
    async function scan() {
      const store = await engine.open()
      const rules = createTestRules(now)
      const merger = vi.fn(rules.merger)
      await createDocumentRepository(store).insert(
        where,
        Array.from({ length: 600 }, (_, n) => {
          const id = `d${1_000 + n}`
          return { id, body: JSON.stringify({ id, on: matching.has(id) }) }
        }),
      )
      const jobs = createJobRepository(store, now)
      const request = { filter: [['on', 'true'] as const], patch }
      let job = await jobs.create({ where, kind: 'patch', state: 'attached', request })
      const steps: Step[] = []
      for (;;) {
        const step = await scanNext(store, { ...rules, merger }, job, nextTurn)
        if (step === undefined) break
        steps.push(step)
        job = await jobs.advance(job, step)
      }
      const parsed = merger.mock.calls.length
      const staged = steps.map(({ staged }) => staged.map(({ id }) => id))
      return { scanned: steps.map(({ scanned }) => scanned), staged, parsed, job }
    }
    beforeEach(() => matching.clear())

    test('does not limit how many documents that do not match are scanned', async () => {
      const { scanned, parsed } = await scan()
      expect(scanned).toEqual([250, 250, 100])
      expect(parsed).toBe(0)
    })

    test('limits how many documents that match are staged', async () => {
      for (const id of ['d1000', 'd1001', 'd1300', 'd1301', 'd1599']) matching.add(id)
      const { scanned, staged, parsed, job } = await scan()
      expect(staged).toEqual([['d1000'], ['d1001'], ['d1300'], ['d1301'], ['d1599']])
      expect(scanned).toEqual([1, 250, 50, 250, 49])
      expect(parsed).toBe(5)
      expect(job).toMatchObject({ done: 600, found: 5 })
    })
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
