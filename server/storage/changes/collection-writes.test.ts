import { beforeEach, describe, expect, it } from 'vitest'
import { CollectionWrites, type UnappliedChange } from './collection-writes.ts'

const where = { database: 'd', collection: 'c' }
const other = { database: 'd', collection: 'other' }

describe('CollectionWrites', () => {
  let writes: CollectionWrites
  let applied: string[][]
  let change: UnappliedChange

  beforeEach(() => {
    writes = new CollectionWrites()
    applied = []
    change = {
      creates: true,
      read: async () => undefined,
      list: async () => [],
      sizes: async () => ({ rows: [], end: undefined }),
      isEmpty: async () => true,
      apply: async (ids) => void applied.push([...ids]),
    }
  })

  it('reports the documents written since a job asked, also by writes in progress', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    await writes.write(where, ['before'], async () => {})
    const running = writes.write(where, ['running'], () => promise)
    await writes.turn(where, async (turn) => {
      turn.watch()
      await writes.write(where, ['a', 'b'], async () => {})
      await writes.write(other, ['elsewhere'], async () => {})
      resolve()
      await running
      expect([...turn.written]).toEqual(['a', 'b', 'running'])
    })
  })

  it('waits for writes before it closes a collection, and delays later ones', async () => {
    const order: string[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    const running = writes.write(where, ['x'], () => promise).then(() => order.push('running'))
    let later: Promise<unknown> | undefined
    const turn = writes.turn(where, async (turn) => {
      const closing = turn.close()
      later = writes.write(where, ['y'], async () => order.push('later'))
      await writes.write(other, ['z'], async () => order.push('other'))
      resolve()
      await closing
      order.push('closed')
    })
    await Promise.all([running, turn])
    await later
    expect(order.indexOf('other')).toBe(0)
    expect(order.indexOf('closed')).toBeLessThan(order.indexOf('later'))
  })

  describe('waiting for a change', () => {
    const isApplied = (waiting: Promise<void>) => waiting.then(() => 'applied')

    it('ends when it is applied', async () => {
      await writes.whenApplied(where)
      writes.restore(where, change)
      await writes.whenApplied(other)
      const waiting = isApplied(writes.whenApplied(where, new AbortController().signal))
      writes.applied(where)
      expect(await waiting).toBe('applied')
    })

    it('begins while the collection is closed for its commit', async () => {
      let waiting: Promise<string> | undefined
      await writes.turn(where, async (turn) => {
        await turn.close()
        expect(writes.isWritable(where)).toBe(false)
        waiting = isApplied(writes.whenApplied(where))
        turn.commit(change)
      })
      expect(writes.isWritable(where)).toBe(false)
      await writes.write(where, ['x'], async () => {})
      const pending = new Promise((resolve) => setImmediate(resolve, 'pending'))
      expect(await Promise.race([waiting, pending])).toBe('pending')
      writes.applied(where)
      expect(await waiting).toBe('applied')
      expect(writes.isWritable(where)).toBe(true)
    })

    it('ends when its signal is aborted', async () => {
      writes.restore(where, change)
      const client = new AbortController()
      const waiting = isApplied(writes.whenApplied(where, client.signal))
      client.abort(new Error('disconnected'))
      await expect(waiting).rejects.toThrow('disconnected')
      await expect(writes.whenApplied(where, client.signal)).rejects.toThrow('disconnected')
    })

    it('ends with the error of a step; later ones wait for the repeated step', async () => {
      writes.restore(where, change)
      const waiting = isApplied(writes.whenApplied(where))
      writes.failed(where, new Error('the disk is full'))
      await expect(waiting).rejects.toThrow('the disk is full')
      const later = isApplied(writes.whenApplied(where))
      writes.applied(where)
      expect(await later).toBe('applied')
    })
  })

  it('reports as busy what a job changes, and a change that is not applied', async () => {
    const whole = { database: 'd', collection: '' }
    const elsewhere = { database: 'dd', collection: '' }
    const busy = () => [where, other, whole, elsewhere].map((each) => writes.isBusy(each))
    await writes.turn(where, async (turn) => {
      expect(busy()).toEqual([true, false, true, false])
      await turn.close()
      turn.commit(change)
    })
    expect(busy()).toEqual([true, false, true, false])
    writes.applied(where)
    expect(busy()).toEqual([false, false, false, false])
    await writes.write(where, ['a'], async () => expect(writes.isBusy(where)).toBe(false))
  })

  it('opens a collection again if the job fails', async () => {
    const failing = writes.turn(where, async (turn) => {
      await turn.close()
      throw new Error('in the middle')
    })
    await expect(failing).rejects.toThrow('in the middle')
    expect(await writes.write(where, ['x'], async () => 'written')).toBe('written')
  })

  it('runs one job of a collection at a time, after the last change is applied', async () => {
    const order: string[] = []
    const first = writes.turn(where, async (turn) => {
      order.push('first')
      turn.commit(change)
    })
    const second = writes.turn(where, async () => order.push('second'))
    await writes.turn(other, async () => order.push('other'))
    await first
    await writes.turn(other, async () => order.push('other'))
    expect(order).not.toContain('second')
    const waiting = writes.whenApplied(where).then(() => order.push('applied'))
    writes.applied(where)
    await Promise.all([second, waiting])
    expect(order.slice(-2).sort()).toEqual(['applied', 'second'])
  })

  it('keeps the order of the turns if one is aborted', async () => {
    const order: string[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    const first = writes.turn(where, async (turn) => {
      await promise
      turn.commit(change)
      order.push('first')
    })
    const client = new AbortController()
    const aborted = writes.turn(where, async () => order.push('aborted'), client.signal)
    const last = writes.turn(where, async () => order.push('last'))
    client.abort(new Error('disconnected'))
    await expect(aborted).rejects.toThrow('disconnected')
    const leaving = writes.turn(where, async () => order.push('aborted'), client.signal)
    await expect(leaving).rejects.toThrow('disconnected')
    resolve()
    await first
    await new Promise(setImmediate)
    expect(order).toEqual(['first'])
    writes.applied(where)
    await last
    expect(order).toEqual(['first', 'last'])
    expect(writes.isBusy(where)).toBe(false)
  })

  it('knows the error of a step of a change', async () => {
    const error = new Error('the disk is full')
    writes.failed(where, error)
    expect(writes.isFailureOfChange(error)).toBe(false)
    writes.restore(where, change)
    writes.failed(where, error)
    expect([error, new Error('other')].map((each) => writes.isFailureOfChange(each))).toEqual([
      true,
      false,
    ])
  })

  it('applies a committed change to a document before a request writes it', async () => {
    expect(writes.unapplied(where)).toBeUndefined()
    await writes.turn(where, async (turn) => turn.commit(change))
    expect(writes.unapplied(where)).toBe(change)
    expect([writes.unapplied(other), writes.unappliedIn('d')]).toEqual([
      undefined,
      [{ collection: 'c', change }],
    ])
    await writes.write(where, ['a'], async () => expect(applied).toEqual([['a']]))
    writes.applied(where)
    await writes.write(where, ['b'], async () => {})
    expect([applied, writes.unapplied(where)]).toEqual([[['a']], undefined])
    await writes.whenApplied(where)
  })

  it('waits for a restored change as for a new one', async () => {
    writes.restore(where, change)
    const turn = writes.turn(where, async () => 'turn')
    const again = { ...change }
    writes.restore(where, again)
    expect(writes.unapplied(where)).toBe(again)
    writes.applied(where)
    expect(await turn).toBe('turn')
    expect(writes.unappliedIn('d')).toEqual([])
  })
})
