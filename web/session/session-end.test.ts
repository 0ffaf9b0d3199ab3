import { expect, test } from 'vitest'
import { sayWhyEnded } from './session-end.ts'

const HOUR = 3_600_000
const time = (ms: number) => new Date(ms).toISOString()
const session = {
  person: {
    id: '1',
    username: 'local:operator',
    name: null,
    provider: 'local',
    role: 'admin' as const,
  },
  by: 'session' as const,
  expires: time(168 * HOUR),
  idleExpires: time(12 * HOUR),
}

test.each([
  [{ lastHeard: HOUR, now: 13 * HOUR }, 'You were signed out after 12 hours without activity'],
  [{ lastHeard: HOUR, now: 2 * HOUR }, 'You were signed out: this session was ended'],
  [
    { lastHeard: 168 * HOUR, now: 168 * HOUR + 1 },
    'You were signed out: a session ends some days after its sign-in, used or not',
  ],
])('with %j it says "%s"', (times, said) => {
  expect(sayWhyEnded({ session, readAt: 0, ...times })).toBe(said)
})
