import { expect, test } from 'vitest'
import { ApiFailure } from '../api.ts'
import { runSeveral, sayOutcome } from './run-several.ts'
import type { SeveralTask } from './several.ts'

const tasks = [1, 2, 3, 4].map(
  (port) => ({ record: { endpoint: `tcp://a:${port}`, databases: [] } }) as unknown as SeveralTask,
)
const portOf = ({ record }: SeveralTask) => Number(record.endpoint.split(':').at(-1))
const refuse =
  (...ports: number[]) =>
  async (task: SeveralTask) => {
    if (ports.includes(portOf(task))) throw new ApiFailure(409, 1200, 'taken')
  }
const never = () => false

test('what fails stops no other, and keeps its reason', async () => {
  const steps: number[] = []
  const outcome = await runSeveral(tasks, {
    change: refuse(2),
    onProgress: ({ left }) => steps.push(left.length),
    isStopped: never,
  })
  expect(outcome.done.map(portOf)).toEqual([1, 3, 4])
  expect(outcome.failures).toEqual([{ task: tasks[1], reason: 'taken' }])
  expect(steps).toEqual([3, 2, 1, 0])
  expect(sayOutcome('remove', outcome)).toBe('3 of 4 were removed. 1 could not be.')
})

test('without an answer nothing more is begun', async () => {
  const outcome = await runSeveral(tasks, {
    change: async (task) => {
      if (portOf(task) === 2) throw new Error('We do not know')
    },
    onProgress: () => {},
    isStopped: never,
  })
  expect(sayOutcome('add', outcome)).toBe('1 of 4 was changed. 1 could not be, 2 were not begun.')
})

test('whoever stops it is told what was not begun', async () => {
  let begun = 0
  const outcome = await runSeveral(tasks, {
    change: async () => {},
    onProgress: () => {},
    isStopped: () => begun++ === 3,
  })
  expect(outcome.left.map(portOf)).toEqual([4])
  expect(sayOutcome('remove', outcome)).toBe('3 of 4 were removed. 1 was not begun.')
})
