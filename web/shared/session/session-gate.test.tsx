import { expect, test } from 'vitest'
import { formatEndReason } from './session-gate.tsx'

const HOUR = 3_600_000
const time = (ms: number) => new Date(ms).toISOString()
const session = {
  person: {
    id: '1',
    username: 'local:operator',
    name: null,
    provider: 'local',
    role: 'admin' as const,
    databases: null,
  },
  by: 'session' as const,
  expires: time(168 * HOUR),
  idleExpires: time(12 * HOUR),
  endpoint: 'tcp://127.0.0.1:8529',
}

test.each([
  [
    '12 hours passed without activity',
    { lastUse: 0, now: 12 * HOUR },
    'You were signed out after 12 hours without activity',
  ],
  [
    // Another tab fetched the session at 6 h and used it.
    'another page extended the session',
    { lastUse: 0, now: 12 * HOUR, idleExpires: time(18 * HOUR) },
    'You were signed out because this session was ended',
  ],
  [
    'someone ended the session',
    { lastUse: HOUR, now: 2 * HOUR },
    'You were signed out because this session was ended',
  ],
  [
    'the session expired',
    { lastUse: 168 * HOUR, now: 168 * HOUR + 1 },
    'You were signed out because the session expired',
  ],
] as [string, { lastUse: number; now: number; idleExpires?: string }, string][])(
  'explains the end when %s',
  (_, { idleExpires = session.idleExpires, ...times }, message) => {
    expect(formatEndReason({ session: { ...session, idleExpires }, ...times })).toBe(message)
  },
)
