import { describe, expect, test, vi } from 'vitest'
import {
  bindingFailure,
  canonicalAddress,
  createKeyedLock,
  isBroadcast,
  readAddress,
  resolveHost,
} from './address.ts'

const coded = (code: string) => Object.assign(new Error('the system says no'), { code })

describe('an error when an address cannot be bound', () => {
  test.each([
    ['EADDRINUSE', 'tcp://127.0.0.1:8530', 'conflict', /^Port 8530 on 127\.0\.0\.1 is used by /],
    ['EADDRINUSE', 'tcp://[::1]:8530', 'conflict', /^Port 8530 on \[::1\] is used by /],
    ['EADDRINUSE', 'unix:///run/a.sock', 'conflict', /listens on \/run\/a\.sock/],
    ['EEXIST', 'unix:///run/a.sock', 'conflict', /^\/run\/a\.sock exists and is not a socket/],
    ['EACCES', 'tcp://127.0.0.1:80', 'forbidden', /^Ports below 1024 require a system permission/],
    ['EPERM', 'ssl://127.0.0.1:443', 'forbidden', /^Ports below 1024 require a system permission/],
    ['EACCES', 'tcp://127.0.0.1:8530', 'forbidden', /permission to listen on port 8530/],
    ['EACCES', 'unix:///run/a.sock', 'forbidden', /create a socket at \/run\/a\.sock/],
    ['EROFS', 'unix:///run/a.sock', 'forbidden', /create a socket at \/run\/a\.sock/],
    [
      'EADDRNOTAVAIL',
      'tcp://192.0.2.1:8530',
      'bad-parameter',
      /^192\.0\.2\.1 is not an address of /,
    ],
    [
      'ENOTFOUND',
      'tcp://nowhere.invalid:1',
      'bad-parameter',
      /^The host name nowhere\.invalid cannot/,
    ],
    [
      'EAI_AGAIN',
      'tcp://nowhere.invalid:1',
      'bad-parameter',
      /^The host name nowhere\.invalid cannot/,
    ],
    [
      'ENOENT',
      'unix:///run/a.sock',
      'bad-parameter',
      /a\.sock cannot be created\. Check that its folder exists/,
    ],
    ['EINVAL', 'tcp://[::ffff:7f00:1]:1', 'bad-parameter', /cannot be opened on this machine/],
    [
      'EINVAL',
      'tcp://[fe80::1]:1',
      'bad-parameter',
      /the interface to this .*, as in \[fe80::1%eth0\]/,
    ],
    ['EINVAL', 'tcp://[fe80::1%eth7]:1', 'bad-parameter', /has no interface eth7/],
    ['ETIMEDOUT', 'tcp://slow.test:1', 'bad-parameter', /host name slow\.test cannot be resolved/],
    ['EMFILE', 'tcp://127.0.0.1:8530', 'unavailable', /The limit on open files is reached/],
    ['ENFILE', 'unix:///run/a.sock', 'unavailable', /The limit on open files is reached/],
  ] as const)('explains %s on %s by a message with the code %s', (code, address, kind, words) => {
    const cause = coded(code)
    const failure = bindingFailure(readAddress(address), cause)
    expect(failure).toMatchObject({ code: kind, cause, details: { systemCode: code } })
    expect(failure.message).toMatch(words)
    expect(failure.message).toMatch(new RegExp(`[.?] \\(${code}\\)$`))
    expect(failure.message).not.toContain('the system says no')
  })
})

test('an address is parsed, or rejected with a message', () => {
  expect(readAddress('TCP://LOCALHOST:80')).toEqual({ scheme: 'tcp', host: 'localhost', port: 80 })
  expect(() => readAddress('tcp://127.1:80')).toThrow(
    expect.objectContaining({
      code: 'bad-parameter',
      message: expect.stringContaining('“127.1” is not an IPv4 address'),
      details: { field: '/endpoint' },
    }),
  )
  expect(canonicalAddress('TCP://LOCALHOST:80')).toBe('tcp://localhost:80')
  expect(canonicalAddress('tcp://127.1:80')).toBe(undefined)
})

test('a host name is bound by its IPv4 address, an IP address as it is', async () => {
  expect(await resolveHost('localhost')).toEqual({ ip: '127.0.0.1', v6: false })
  expect(await resolveHost('192.0.2.1')).toEqual({ ip: '192.0.2.1', v6: false })
  expect(await resolveHost('::1')).toEqual({ ip: '::1', v6: true })
  await expect(resolveHost('nowhere.invalid')).rejects.toThrow(/ENOTFOUND|EAI_AGAIN/)
})

test('an address that no client can connect to is not bound', async () => {
  const rejected = expect.objectContaining({ code: 'EADDRNOTAVAIL' })
  for (const ip of ['224.0.0.1', '239.255.255.255', '255.255.255.255', '127.255.255.255']) {
    await expect(resolveHost(ip)).rejects.toEqual(rejected)
  }
  for (const ip of ['223.255.255.255', '0.0.0.0', '127.0.0.255', 'ff02::1']) {
    expect((await resolveHost(ip)).ip).toBe(ip)
  }
})

test('the broadcast address of a network depends on its mask', () => {
  const own = [
    { address: '10.1.2.3', netmask: '255.255.254.0', family: 'IPv4' },
    { address: '10.9.9.11', netmask: '255.255.255.255', family: 'IPv4' },
    { address: '10.8.8.10', netmask: '255.255.255.254', family: 'IPv4' },
    { address: 'fe80::1', netmask: 'ffff:ffff:ffff:ffff::', family: 'IPv6' },
  ] as const
  const isOfOwn = (ip: string) => isBroadcast(ip, () => own)
  expect(['10.1.3.255', '255.255.255.255'].every(isOfOwn)).toBe(true)
  expect(['10.1.2.255', '10.1.3.254', '10.9.9.11', '10.8.8.11'].some(isOfOwn)).toBe(false)
})

test('the addresses of the machine are not listed for an address that cannot be a broadcast', () => {
  const list = vi.fn(() => [])
  for (const ip of ['127.0.0.1', '0.0.0.0', '192.168.1.2'])
    expect(isBroadcast(ip, list)).toBe(false)
  expect(list).not.toHaveBeenCalled()
})

test('tasks with one key run one after another, also after a failed one', async () => {
  const withLock = createKeyedLock()
  const events: string[] = []
  const run = (name: string) =>
    withLock('key', async () => {
      events.push(`${name} begins`)
      await new Promise(setImmediate)
      events.push(`${name} ends`)
      if (name === 'a') throw new Error('failed')
      return name
    })
  const settled = await Promise.allSettled(['a', 'b', 'c'].map(run))
  expect(settled).toMatchObject([{ reason: { message: 'failed' } }, { value: 'b' }, { value: 'c' }])
  expect(events).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
})

test('tasks with different keys run concurrently', async () => {
  const withLock = createKeyedLock()
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = withLock('a', () => promise)
  expect(await withLock('b', async () => 'done')).toBe('done')
  resolve()
  await first
})
