import { beforeEach, describe, expect, test, vi } from 'vitest'
import { TIME_SLICE } from '../concurrency/turns.ts'
import { createTestRules } from '../documents/document-rules.testing.ts'
import { createDocumentRepository } from '../documents/repository/stored-documents.ts'
import { forEngine } from '../storage/test-support/each-engine.testing.ts'
import { countTurns } from '../test-support/count-turns.testing.ts'
import { createScan, type ScannedDocuments, type ScanTarget } from './scan.ts'

const where = { database: '_system', collection: 'articles' }
const now = () => 1_700_000_000_000

forEngine('sqlite', (engine) => {
  test('a resumed job continues after its last document, although that was deleted', async () => {
    const store = await engine.open()
    const ids = Array.from({ length: 600 }, (_, n) => `d${1_000 + n}`)
    await createDocumentRepository(store).insert(
      where,
      ids.map((id) => ({ id, body: JSON.stringify({ id, a: 1 }) })),
    )
    const scan = createScan(createTestRules(now, createDocumentRepository(store)))
    const from = (cursor: string): ScanTarget => ({
      ...where,
      kind: 'list',
      request: { filter: [['a', '1']] },
      cursor,
    })
    expect(await scan(from('d1589x'), ids)).toMatchObject({ cursor: 'd1599', found: 10 })
    expect(await scan(from('d1599x'), ids)).toBeUndefined()
  })

  test('a step yields to other requests after each time slice', async () => {
    const store = await engine.open()
    await createDocumentRepository(store).insert(
      where,
      Array.from({ length: 20 }, (_, n) => ({ id: `d${n}`, body: `{"id":"d${n}"}` })),
    )
    const rules = createTestRules(now, createDocumentRepository(store))
    let time = 0
    const slow: typeof rules.merger = async () => ({
      async merge(_id, body) {
        time += TIME_SLICE / 2
        return body
      },
      schema: null,
    })
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => time)
    const scan = createScan({ ...rules, merger: slow })
    const request = { filter: [], patch: '{"on":true}' }
    const turns = await countTurns(() =>
      scan({ ...where, kind: 'patch', request, cursor: null }, undefined),
    )
    clock.mockRestore()
    // The last slice ends with the step.
    expect(turns).toBeGreaterThanOrEqual(9)
  })

  describe('a patch that is larger than a step', () => {
    const patch = JSON.stringify({ text: 'x'.repeat(1_030_000) })
    const matching = new Set<string>()

    /** Scans 2,400 documents; returns the steps and how often the patch was parsed. */
    async function scanAll() {
      const store = await engine.open()
      const rules = createTestRules(now, createDocumentRepository(store))
      const merger = vi.fn(rules.merger)
      await createDocumentRepository(store).insert(
        where,
        Array.from({ length: 2_400 }, (_, n) => {
          const id = `d${1_000 + n}`
          return { id, body: JSON.stringify({ id, on: matching.has(id) }) }
        }),
      )
      const scan = createScan({ ...rules, merger })
      const request = { filter: [['on', 'true'] as const], patch }
      const steps: ScannedDocuments[] = []
      for (let cursor: string | null = null; ; ) {
        const target: ScanTarget = { ...where, kind: 'patch', request, cursor }
        const step = await scan(target, undefined)
        if (step === undefined) break
        steps.push(step)
        cursor = step.cursor
      }
      const changed = steps.map(({ changes }) => changes.map(({ id }) => id))
      const scanned = steps.map(({ scanned }) => scanned)
      return { scanned, changed, parsed: merger.mock.calls.length }
    }
    beforeEach(() => matching.clear())

    test('does not limit how many documents that do not match are read', async () => {
      const { scanned, parsed } = await scanAll()
      expect(scanned).toEqual([1_000, 1_000, 400])
      expect(parsed).toBe(0)
    })

    test('limits how many documents are changed', async () => {
      for (const id of ['d1000', 'd1001', 'd2300']) matching.add(id)
      const { scanned, changed, parsed } = await scanAll()
      expect(changed).toEqual([['d1000'], ['d1001'], ['d2300'], []])
      expect(scanned).toEqual([1, 1_000, 1_000, 399])
      expect(parsed).toBe(3)
    })
  })
})
