import { expect, test } from 'vitest'
import { formatBrowser, toEndChange } from './session-list.tsx'

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

const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36'

test.each([
  [`Mozilla/5.0 (X11; Linux x86_64) ${chrome}`, 'Chrome on Linux'],
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Edg/141.0.0.0`, 'Edge on Windows'],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
    'Safari on iOS',
  ],
  ['curl/8.9.1', 'curl'],
  ['something else', 'Unknown browser'],
  [null, 'Unknown browser'],
])('%s is %s', (userAgent, message) => {
  expect(formatBrowser(userAgent)).toBe(message)
})
