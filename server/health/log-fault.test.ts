import { pino } from 'pino'
import { expect, test } from 'vitest'
import { Failure } from '../failure.ts'
import { DamagedStore } from '../storage/availability/unavailable.ts'
import { createFaultLog, SAY_AGAIN } from './log-fault.ts'

const store = { away: () => undefined, returned: async () => false }

function open() {
  const lines: { msg: string; reason?: string; advice?: string }[] = []
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const clock = { now: 0 }
  return { lines, clock, faults: createFaultLog(store, log, () => clock.now) }
}

const settle = () => new Promise(setImmediate)

test('logs a failure of the store once a minute, with its cause', async () => {
  const { lines, clock, faults } = open()
  const malformed = new DamagedStore('damaged', new Error('malformed'))
  for (let n = 0; n < 3; n++) faults('A document could not be read.')(malformed)
  await settle()
  expect(lines).toMatchObject([
    { msg: 'A document could not be read.', reason: 'malformed', advice: expect.any(String) },
  ])
  // Another cause or another message is logged.
  faults('A document could not be read.')(
    new Failure('insufficient-storage', 'full', { cause: new Error('disk is full') }),
  )
  faults('a job failed to continue')(malformed)
  await settle()
  expect(lines.map(({ msg, reason }) => [msg, reason])).toEqual([
    ['A document could not be read.', 'malformed'],
    ['A document could not be read.', 'disk is full'],
    ['a job failed to continue', 'malformed'],
  ])
  expect(lines[1]?.advice).toBeUndefined()
  clock.now = SAY_AGAIN
  faults('A document could not be read.')(malformed)
  await settle()
  expect(lines).toHaveLength(4)
})

test('logs every other error', async () => {
  const { lines, faults } = open()
  for (let n = 0; n < 3; n++) faults('Something went wrong.')(new TypeError('x'))
  await settle()
  expect(lines).toHaveLength(3)
})
