import { setImmediate as nextImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { SHARE, TurnShare } from './turn-share.ts'

let time: number
let turn: number
/** The pieces of work that ran, with their turns. */
let ran: [string, number][]
let counting: NodeJS.Immediate

beforeEach(() => {
  ;[time, turn, ran] = [0, 0, []]
  vi.spyOn(performance, 'now').mockImplementation(() => time)
  counting = setImmediate(function count() {
    turn++
    counting = setImmediate(count)
  })
})
afterEach(() => {
  clearImmediate(counting)
  vi.restoreAllMocks()
})

/** Returns work that takes `duration` ms, half of it after some microtasks. */
const workOf = (name: string, duration: number) => async () => {
  time += duration / 2
  for (let hop = 0; hop < 10; hop++) await undefined
  time += duration / 2
  ran.push([name, turn])
}

test('work runs at once while there is time', () => {
  const share = new TurnShare()
  const work = vi.fn()
  share.run(work)
  expect(work).toHaveBeenCalledOnce()
})

test('work beyond the share waits for later turns, in the order of its arrival', async () => {
  const share = new TurnShare()
  for (const name of ['a', 'b', 'c', 'd']) share.run(workOf(name, SHARE - 1))
  await nextImmediate()
  // Arrives after the others, which still wait.
  share.run(workOf('e', 0))
  await expect.poll(() => ran.length).toBe(5)
  expect(ran.map(([name]) => name).join('')).toBe('abcde')
  const turns = ran.map(([, at]) => at - (ran[0]?.[1] ?? 0))
  expect(turns).toEqual([0, 0, 1, 1, 2])
})

test('the microtasks of work end before other work begins', async () => {
  const share = new TurnShare()
  const events: string[] = []
  const work = (name: string) => async () => {
    events.push(`${name} begins`)
    for (let hop = 0; hop < 10; hop++) await undefined
    events.push(`${name} ends`)
  }
  for (const name of ['a', 'b', 'c']) share.run(work(name))
  await share.enter()
  expect(events).toEqual(['a', 'b', 'c'].flatMap((name) => [`${name} begins`, `${name} ends`]))
})

test('a share does not wait for another one', async () => {
  const [share, other] = [new TurnShare(), new TurnShare()]
  for (const name of ['a', 'b']) share.run(workOf(name, SHARE))
  other.run(workOf('c', 0))
  await expect.poll(() => ran.length).toBe(3)
  expect(ran.map(([name]) => name).join('')).toBe('acb')
})

test('work that throws does not stop the others', async () => {
  const share = new TurnShare()
  expect(() =>
    share.run(() => {
      throw new Error('wrong')
    }),
  ).toThrow('wrong')
  await share.enter()
})
