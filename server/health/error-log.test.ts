import { pino } from 'pino'
import { expect, test } from 'vitest'
import { Failure } from '../failure.ts'
import { DamagedStore } from '../storage/availability/unavailable.ts'
import { createErrorLog, REPEAT_AFTER } from './error-log.ts'

const store = { outage: () => undefined, recovered: async () => false }

function open() {
  const lines: { msg: string; reason?: string; advice?: string }[] = []
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const clock = { now: 0 }
  return { lines, clock, errors: createErrorLog(store, log, () => clock.now) }
}

const settle = () => new Promise(setImmediate)

test('logs a failure of the database once a minute, with its cause', async () => {
  const { lines, clock, errors } = open()
  const malformed = new DamagedStore('damaged', new Error('malformed'))
  for (let n = 0; n < 3; n++) errors('A document could not be read.')(malformed)
  await settle()
  expect(lines).toMatchObject([
    { msg: 'A document could not be read.', reason: 'malformed', advice: expect.any(String) },
  ])
  // Another cause or another message is logged.
  errors('A document could not be read.')(
    new Failure('insufficient-storage', 'full', { cause: new Error('disk is full') }),
  )
  errors('a job failed to continue')(malformed)
  await settle()
  expect(lines.map(({ msg, reason }) => [msg, reason])).toEqual([
    ['A document could not be read.', 'malformed'],
    ['A document could not be read.', 'disk is full'],
    ['a job failed to continue', 'malformed'],
  ])
  expect(lines[1]?.advice).toBeUndefined()
  clock.now = REPEAT_AFTER
  errors('A document could not be read.')(malformed)
  await settle()
  expect(lines).toHaveLength(4)
})

test('logs every other error', async () => {
  const { lines, errors } = open()
  for (let n = 0; n < 3; n++) errors('Something went wrong.')(new TypeError('x'))
  await settle()
  expect(lines).toHaveLength(3)
})
