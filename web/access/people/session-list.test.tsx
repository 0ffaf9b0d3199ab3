import { expect, test } from 'vitest'
import { toEndChange } from './session-list.tsx'

const session = {
  id: 'a',
  created: '2026-05-04T10:20:30.000Z',
  lastSeen: '2026-05-04T10:25:00.000Z',
  expires: '2026-05-05T10:20:30.000Z',
  address: null,
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36',
  current: false,
}

test('Sessions of the same browser and address are told apart by their start', () => {
  const { what } = toEndChange([session])
  expect(what).toMatch(/^The session of Chrome on Linux from this machine \(started .*2026.*\)$/)
  const other = { ...session, id: 'b', created: '2026-05-04T10:20:31.000Z' }
  expect(toEndChange([other]).what).not.toBe(what)
})
