import { getEventListeners } from 'node:events'
import { afterEach, expect, test, vi } from 'vitest'
import { ApiFailure, NoResponse } from '../../api/client.ts'
import { NotApplied, pause, type SaveStage, saveInSteps } from './save-steps.ts'

afterEach(() => vi.useRealTimers())

const away = () => Promise.reject(new NoResponse('away'))

function steps(over: Partial<Parameters<typeof saveInSteps>[0]> = {}) {
  const stages: SaveStage[] = []
  return {
    stages,
    check: vi.fn(async () => {}),
    send: vi.fn(async () => {}),
    wasApplied: vi.fn(async () => true),
    pause: vi.fn(async () => {}),
    signal: new AbortController().signal,
    onStage: (stage: SaveStage) => {
      if (stages.at(-1) !== stage) stages.push(stage)
    },
    ...over,
  }
}

test('a save with a response is sent once and not checked', async () => {
  const made = steps()
  await saveInSteps(made)
  expect(made.send).toHaveBeenCalledOnce()
  expect(made.wasApplied).not.toHaveBeenCalled()
})

test('without a connection, the save waits', async () => {
  const check = vi
    .fn(async () => {})
    .mockImplementationOnce(away)
    .mockImplementationOnce(away)
  const send = vi.fn(async () => {})
  const pause = vi.fn(async (_tries: number) => {
    expect(send).not.toHaveBeenCalled()
  })
  const made = steps({ check, send, pause })
  await saveInSteps(made)
  expect(pause.mock.calls).toEqual([[0], [1]])
  expect(made.stages).toEqual(['saving', 'waiting', 'saving'])
  expect(send).toHaveBeenCalledOnce()
})

test('a save without permission is not sent', async () => {
  const made = steps({ check: () => Promise.reject(new Error('You are a viewer now.')) })
  await expect(saveInSteps(made)).rejects.toThrow('You are a viewer now.')
  expect(made.send).not.toHaveBeenCalled()
})

test('a lost response is checked and never sent again', async () => {
  const wasApplied = vi.fn(async () => true).mockImplementationOnce(away)
  const made = steps({ send: vi.fn(away), wasApplied })
  await saveInSteps(made)
  expect(made.send).toHaveBeenCalledOnce()
  expect(wasApplied).toHaveBeenCalledTimes(2)
  expect(made.stages).toEqual(['saving', 'unsure'])
})

test('a change that was not applied is reported', async () => {
  await expect(saveInSteps(steps({ send: away, wasApplied: async () => false }))).rejects.toThrow(
    NotApplied,
  )
})

test('a rejection is final', async () => {
  const refusal = new ApiFailure(409, 1200, 'taken')
  const made = steps({ send: () => Promise.reject(refusal) })
  await expect(saveInSteps(made)).rejects.toBe(refusal)
  expect(made.wasApplied).not.toHaveBeenCalled()
})

test('a save that is cancelled during the check is not sent', async () => {
  const controller = new AbortController()
  const check = async () => controller.abort(new Error('closed'))
  const made = steps({ check, signal: controller.signal })
  await expect(saveInSteps(made)).rejects.toThrow('closed')
  expect(made.send).not.toHaveBeenCalled()
})

test('a cancelled save stops waiting', async () => {
  const made = steps({ check: away, pause: () => Promise.reject(new Error('given up')) })
  await expect(saveInSteps(made)).rejects.toThrow('given up')
  expect(made.send).not.toHaveBeenCalled()
})

test('a pause with an aborted signal starts no timer', async () => {
  vi.useFakeTimers()
  const paused = pause(1_000, AbortSignal.abort('cancelled'))
  await expect(paused).rejects.toBe('cancelled')
  expect(vi.getTimerCount()).toBe(0)
})

test('aborting a pause rejects it and stops its timer', async () => {
  vi.useFakeTimers()
  const controller = new AbortController()
  const paused = pause(1_000, controller.signal)
  controller.abort('cancelled')
  await expect(paused).rejects.toBe('cancelled')
  expect(vi.getTimerCount()).toBe(0)
})

test('a pause that has ended no longer listens to its signal', async () => {
  vi.useFakeTimers()
  const { signal } = new AbortController()
  const paused = pause(1_000, signal)
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1_000)
  await paused
  expect(getEventListeners(signal, 'abort')).toEqual([])
})
