import { afterEach, describe, expect, it, vi } from 'vitest'
import { SHARE } from '../../../concurrency/turn-share.ts'
import { collectGarbage } from '../../../test-support/collect-garbage.testing.ts'
import { oldGeneration } from '../../../test-support/old-generation.testing.ts'
import { Batcher, type BatchLimits } from './batcher.ts'

const LIMITS: BatchLimits = {
  rows: 3,
  bytes: 100,
  waiting: 6,
  waitingBytes: 500,
  wait: 10_000,
}

class Wrong extends Error {}

/** Creates a batcher that doubles numbers; `run` is called with each batch. */
function doubling(
  run: (batch: readonly number[]) => unknown = () => {},
  { inFlight = 1, spacing = 0 } = {},
) {
  const batches: (readonly number[])[] = []
  const durations: number[] = []
  const batcher = new Batcher<number, number>(
    LIMITS,
    { inFlight, spacing, record: (duration) => durations.push(duration) },
    async (items) => {
      batches.push(items)
      await run(items)
      return items.map((item) => 2 * item)
    },
    (error) => error instanceof Wrong,
  )
  return { batcher, batches, durations, add: (item: number, bytes = 1) => batcher.add(item, bytes) }
}

describe('Batcher', () => {
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })

  it('runs the items of a turn together, and those that arrive during a batch after it', async () => {
    const first = Promise.withResolvers<void>()
    const { batches, add } = doubling(() => first.promise)
    const early = [add(1), add(2)]
    await expect.poll(() => batches).toEqual([[1, 2]])
    const late = [add(3), add(4)]
    first.resolve()
    expect(await Promise.all([...early, ...late])).toEqual([2, 4, 6, 8])
    expect(batches).toEqual([
      [1, 2],
      [3, 4],
    ])
  })

  it('runs a full batch at once, and the other items of the turn at its end', async () => {
    const { batches, add } = doubling(undefined, { inFlight: 2 })
    const all = [1, 2, 3, 4].map((item) => add(item))
    expect(batches).toEqual([[1, 2, 3]])
    expect(await Promise.all(all)).toEqual([2, 4, 6, 8])
    expect(batches).toEqual([[1, 2, 3], [4]])
  })

  it('runs one of equal items that wait, and runs it again for those that arrive later', async () => {
    const first = Promise.withResolvers<void>()
    const { batcher, batches } = doubling(() => first.promise)
    const add = () => batcher.add(7, 1, 1, 'seven')
    const early = [add(), add()]
    await expect.poll(() => batches).toEqual([[7]])
    // The batch in flight may have begun before these requests arrived.
    const late = [add(), add()]
    first.resolve()
    expect(await Promise.all([...early, ...late])).toEqual([14, 14, 14, 14])
    expect(batches).toEqual([[7], [7]])
  })

  it.each([
    ['different items', undefined],
    ['equal items', 'key'],
  ])('what callers do with their results is divided over several turns: %s', async (_, key) => {
    // Earlier tests have used their share of this turn.
    await new Promise(setImmediate)
    let [time, turn] = [performance.now(), 0]
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => time)
    let counting = setImmediate(function count() {
      turn++
      counting = setImmediate(count)
    })
    const turns = new Set<number>()
    const { batcher, batches } = doubling()
    const use = async (result: Promise<number>) => {
      await result
      time += SHARE
      turns.add(turn)
    }
    try {
      await Promise.all([1, 1, 1].map((item) => use(batcher.add(item, 1, 1, key))))
    } finally {
      clearImmediate(counting)
      clock.mockRestore()
    }
    expect(batches).toEqual([key === undefined ? [1, 1, 1] : [1]])
    expect(turns.size).toBe(3)
  })

  it('runs the items together that arrive during a batch and in the turn in which it ends', async () => {
    const first = Promise.withResolvers<void>()
    const { batches, add } = doubling(() => first.promise)
    const early = add(1)
    await expect.poll(() => batches).toEqual([[1]])
    const during = add(2)
    first.resolve()
    await early
    for (let microtask = 0; microtask < 10; microtask++) await undefined
    const after = add(3)
    expect(await Promise.all([during, after])).toEqual([4, 6])
    expect(batches).toEqual([[1], [2, 3]])
  })

  it('runs as many batches at once as allowed', async () => {
    const gate = Promise.withResolvers<void>()
    const { batches, add } = doubling(() => gate.promise, { inFlight: 2 })
    const all = [1, 2, 3, 4, 5, 6].map((item) => add(item))
    await expect.poll(() => batches.length).toBe(2)
    gate.resolve()
    await Promise.all(all)
  })

  it('begins a batch beside another only if that takes long, or if it is full', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    let time = 0
    vi.spyOn(performance, 'now').mockImplementation(() => time)
    const advance = (ms: number) => {
      time += ms
      vi.advanceTimersByTime(ms)
    }
    const gate = Promise.withResolvers<void>()
    const { batches, durations, add } = doubling(() => gate.promise, { inFlight: 4, spacing: 5 })
    const inTurn = async (...items: number[]) => {
      const all = items.map((item) => add(item))
      await new Promise((resolve) => setImmediate(resolve))
      return all
    }
    await inTurn(1)
    await inTurn(2)
    expect(batches).toEqual([[1]])
    advance(5)
    expect(batches).toEqual([[1], [2]])
    const last = [...(await inTurn(3, 4)), ...(await inTurn(5))]
    expect(batches).toEqual([[1], [2], [3, 4, 5]])
    advance(1)
    gate.resolve()
    await Promise.all(last)
    expect(durations).toEqual([6, 1, 1])
  })

  it('limits the items of a batch, and their size', async () => {
    const { batches, add } = doubling()
    const sizes = [1, 1, 1, 60, 60, 200]
    await Promise.all(sizes.map((bytes, at) => add(at, bytes)))
    expect(batches).toEqual([[0, 1, 2], [3], [4], [5]])
  })

  it('rejects only the item that causes an error', async () => {
    const { add } = doubling((batch) => {
      if (batch.includes(2)) throw new Wrong()
    })
    const results = await Promise.allSettled([1, 2, 3].map((item) => add(item)))
    expect(results).toMatchObject([{ value: 2 }, { reason: new Wrong() }, { value: 6 }])
  })

  it('tells the parts of a batch why it was divided', async () => {
    const errors: (readonly unknown[])[] = []
    const wrong = new Wrong()
    const batcher = new Batcher<number, number>(
      LIMITS,
      { inFlight: 1, spacing: 0, record() {} },
      async (items, before) => {
        errors.push(before)
        if (items.includes(1)) throw wrong
        return items
      },
      () => true,
    )
    await Promise.allSettled([1, 2, 3].map((item) => batcher.add(item, 1)))
    expect(errors).toEqual([[], [wrong], [wrong]])
    await batcher.add(4, 1)
    expect(errors.at(-1)).toEqual([])
  })

  it('limits the rows of a batch', async () => {
    const { batcher, batches } = doubling()
    const all = [2, 1, 1, 4, 3].map((rows, at) => batcher.add(at, 1, rows))
    await Promise.all(all)
    expect(batches).toEqual([[0, 1], [2], [3], [4]])
  })

  it('rejects all items if an error is not caused by one', async () => {
    const { add, batches } = doubling(() => Promise.reject(new Error('down')))
    const results = await Promise.allSettled([1, 2].map((item) => add(item)))
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(batches).toHaveLength(1)
  })

  it('rejects items beyond the limit, and items that wait too long', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const gate = Promise.withResolvers<void>()
    const { batcher, batches, add } = doubling(() => gate.promise)
    const first = add(1)
    await expect.poll(() => batches).toHaveLength(1)
    const waiting = Promise.allSettled(Array.from({ length: LIMITS.waiting }, () => add(2)))
    expect(batcher.waiting).toBe(LIMITS.waiting)
    await expect(add(3)).rejects.toMatchObject({ code: 'unavailable' })
    vi.advanceTimersByTime(LIMITS.wait + 1)
    gate.resolve()
    expect(await first).toBe(2)
    for (const each of await waiting) {
      expect(each).toMatchObject({ reason: { code: 'unavailable' } })
    }
    expect(batches).toHaveLength(1)
  })

  it('rejects items that wait too long while a batch does not end', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
    const gate = Promise.withResolvers<void>()
    const { batcher, batches, add } = doubling(() => gate.promise)
    const first = add(1)
    await new Promise((resolve) => setImmediate(resolve))
    vi.advanceTimersByTime(1)
    const late = Promise.allSettled([add(2), add(3)])
    vi.advanceTimersByTime(LIMITS.wait)
    const early = add(4)
    expect(batcher.waiting).toBe(3)
    vi.advanceTimersByTime(1)
    for (const each of await late) expect(each).toMatchObject({ reason: { code: 'unavailable' } })
    expect(batcher.waiting).toBe(1)
    gate.resolve()
    expect(await Promise.all([first, early])).toEqual([2, 8])
    expect(batches).toEqual([[1], [4]])
  })

  it('limits the size of the items that wait', async () => {
    const gate = Promise.withResolvers<void>()
    const { add } = doubling(() => gate.promise)
    const first = add(1, LIMITS.bytes)
    const second = add(2, LIMITS.waitingBytes)
    await expect(add(3)).rejects.toMatchObject({ code: 'unavailable' })
    gate.resolve()
    expect(await Promise.all([first, second])).toEqual([2, 4])
    expect(await add(3)).toBe(6)
  })

  it('settles its items before it is closed, and rejects others', async () => {
    const { batcher, batches, add } = doubling()
    const all = [1, 2, 3, 4].map((item) => add(item))
    await batcher.close()
    expect(batches).toHaveLength(2)
    await expect(add(5)).rejects.toMatchObject({ code: 'unavailable' })
    expect(await Promise.all(all)).toEqual([2, 4, 6, 8])
  })

  it('keeps items out of the old generation of the heap', async () => {
    const batcher = new Batcher<unknown[], unknown[]>(
      { ...LIMITS, rows: 64, waiting: 64 },
      { inFlight: 1, spacing: 0, record: () => {} },
      async (items) => items,
      () => false,
    )
    const runMany = (batch: number) =>
      Promise.all(
        Array.from({ length: 64 }, (_, at) => batcher.add(Array(1_000), 1, 1, `${batch} ${at}`)),
      )
    await runMany(-1)
    collectGarbage()
    const before = oldGeneration()
    for (let batch = 0; batch < 100; batch++) {
      const done = runMany(batch)
      collectGarbage({ type: 'minor' })
      await done
      // Until the turn ends, V8 refers to the results.
      await new Promise(setImmediate)
    }
    // All items are 50 MiB.
    expect(oldGeneration() - before).toBeLessThan(5 * 1024 * 1024)
  })
})
