import { expect, test, vi } from 'vitest'
import { mockLookup } from '../test-support/mock-lookup.testing.ts'
import { startReceiver } from './receiver.testing.ts'
import { createAddressCheck, createSend } from './send.ts'

const open = (...allow: string[]) => createSend(createAddressCheck(allow))

test('requests go to public addresses and permitted networks only', () => {
  const isAllowed = createAddressCheck(['10.1.0.0/16', 'fd00::/8'])
  const permitted = ['93.184.216.34', '8.8.8.8', '2606:4700::1111', '10.1.2.3', 'fd12::1']
  expect(permitted.filter((each) => !isAllowed(each))).toEqual([])
  const blocked = [
    ...['0.0.0.0', '10.2.0.1', '100.64.0.1', '127.0.0.1', '127.255.255.254', '169.254.169.254'],
    ...['172.16.0.1', '172.31.255.255', '192.0.0.8', '192.168.1.1', '198.18.0.1', '224.0.0.1'],
    ...['239.255.255.255', '255.255.255.255', '::', '::1', 'fe80::1', 'fc00::1', 'ff02::1'],
    ...['::ffff:127.0.0.1', '::ffff:7f00:1', '0:0:0:0:0:ffff:7f00:1', '::127.0.0.1'],
    ...['64:ff9b::7f00:1', '64:ff9b:1::7f00:1', '2002:7f00:1::', '2001::1', '2001:db8::1'],
  ]
  expect(blocked.filter(isAllowed)).toEqual([])
})

test('an address that is not public gets no request, by name or literally', async () => {
  const { url, port, received } = await startReceiver()
  const lookUp = mockLookup(async () => [{ address: '127.0.0.1', family: 4 }])
  const named = await open()(`http://hook.example:${port}/`, {}, '{}')
  expect(named.error).toBe(
    'hook.example has no public address. GATEHOUSE_WEBHOOK_ALLOW permits other networks.',
  )
  for (const host of ['127.0.0.1', '127.1', '0x7f.1', '[::ffff:127.0.0.1]', '[::1]', '0']) {
    const sent = await open()(`http://${host}:${port}/`, {}, '{}')
    expect([host, sent.status, sent.error]).toEqual([
      host,
      null,
      expect.stringContaining('public address'),
    ])
  }
  expect(received).toEqual([])
  expect((await open('127.0.0.0/8')(url, {}, '{}')).status).toBe(204)
  expect(lookUp).toHaveBeenCalledTimes(1)
})

test('a name is resolved once, and the request goes to the address that was checked', async () => {
  const { port, received } = await startReceiver()
  const lookUp = mockLookup(async () => [{ address: '127.0.0.2', family: 4 }])
  lookUp.mockResolvedValueOnce([
    { address: '10.0.0.1', family: 4 },
    { address: '127.0.0.1', family: 4 },
  ])
  const sent = await open('127.0.0.1')(`http://hook.example:${port}/path?a=1`, {}, '{}')
  expect(sent.status).toBe(204)
  expect(lookUp).toHaveBeenCalledTimes(1)
  expect(received).toMatchObject([{ path: '/path?a=1', headers: { host: `hook.example:${port}` } }])
})

test('a redirect is not followed', async () => {
  const receiver = await startReceiver()
  const target = await startReceiver()
  receiver.respond = (response) => response.writeHead(307, { Location: target.url }).end()
  const sent = await open('127.0.0.1')(receiver.url, {}, '{}')
  expect([sent.status, sent.headers.location]).toEqual([307, target.url])
  expect(target.received).toEqual([])
})

test('at most 64 KiB of a response are read', async () => {
  const receiver = await startReceiver()
  const { promise: closed, resolve: close } = Promise.withResolvers<void>()
  receiver.respond = (response) => {
    response.on('close', close)
    response.writeHead(200).write('x'.repeat(10 * 1024 * 1024))
  }
  const sent = await open('127.0.0.1')(receiver.url, {}, '{}')
  expect([sent.status, sent.bytes]).toEqual([200, 64 * 1024])
  await closed
})

test('an attempt ends after 10 seconds, also while the response arrives', async () => {
  const receiver = await startReceiver()
  const timeout = new AbortController()
  const spy = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(timeout.signal)
  receiver.respond = (response) => {
    response.writeHead(200).write('x')
    timeout.abort()
  }
  const sent = await open('127.0.0.1')(receiver.url, {}, '{}')
  expect(sent).toMatchObject({ status: null, error: 'No response within 10 seconds.' })
  expect(spy).toHaveBeenCalledWith(10_000)
  // A resolver that does not answer.
  mockLookup(() => new Promise(() => {}))
  expect((await open()('http://hook.example/', {}, '{}')).error).toBe(
    'No response within 10 seconds.',
  )
  spy.mockRestore()
})

test('a closed connection is an error', async () => {
  const receiver = await startReceiver()
  receiver.respond = (response) => response.destroy()
  expect((await open('127.0.0.1')(receiver.url, {}, '{}')).error).toBe('socket hang up')
})
