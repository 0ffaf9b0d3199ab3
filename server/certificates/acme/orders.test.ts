import { once } from 'node:events'
import { createServer } from 'node:net'
import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createRecorder, START } from '../../audit/record.ts'
import { freePorts } from '../../endpoints/listeners/free-ports.testing.ts'
import type { Store } from '../../storage/store.ts'
import { forEachEngine, type TestEngine } from '../../storage/test-support/each-engine.testing.ts'
import { createVault } from '../../storage/vault.ts'
import { startForTest } from '../../test-support/start.testing.ts'
import { createCertificates } from '../certificates.ts'
import { createTestDirectory, NAMES } from './directory.testing.ts'

const DIRECTORY = 'https://acme.test/directory'
const DAY = 86_400_000

/** Answers a request to the directory; undefined leaves it to the test directory. */
type Intercept = (path: string, init: RequestInit) => Response | Promise<Response> | undefined

/** A test directory in place of `fetch`. */
function stubDirectory(now: () => number) {
  const stub = Object.assign(createTestDirectory('https://acme.test', now), {
    intercept: (() => undefined) as Intercept,
    paths: [] as string[],
  })
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init = {}) => {
    const path = new URL(String(input)).pathname.slice(1)
    stub.paths.push(path)
    return (await stub.intercept(path, init)) ?? stub.answer(path, init.body)
  })
  return stub
}

/** Opens certificates whose orders the test attempts. */
async function open(engine: TestEngine, { isServed = true, httpPort = 80 } = {}) {
  // Certificates have whole seconds.
  const clock = { now: Math.floor(Date.now() / 1000) * 1000 }
  const directory = stubDirectory(() => clock.now)
  let store: Store | undefined
  /** Starts the node, or starts it again. */
  const start = async () => {
    await store?.close()
    store = await engine.open()
    const certificates = await createCertificates({
      store,
      vault: createVault(new Uint8Array(32)),
      record: createRecorder(),
      publish: () => {},
      configured: undefined,
      acme: { directory: DIRECTORY, contact: undefined, agreed: true, httpPort },
      isServed: () => isServed,
      instance: 'tests',
      now: () => clock.now,
      log: pino({ level: 'silent' }),
      onError: (error) => expect.unreachable(String(error)),
    })
    onTestFinished(() => certificates[Symbol.dispose]())
    await certificates.sync()
    return certificates
  }
  const certificates = await start()
  const record = async (of = certificates) => {
    await of.attemptOrders()
    return of.get('web')
  }
  const order = async () => {
    await certificates.set({ name: 'web', actor: START }, { kind: 'acme', names: NAMES })
    return record()
  }
  return { clock, directory, certificates, start, record, order }
}

const secondsUntil = (time: string | undefined, now: number) =>
  Math.round((Date.parse(time ?? '') - now) / 1000)

forEachEngine((engine) => {
  test('a failed order is attempted again with longer pauses, also after a restart', async () => {
    const { clock, directory, start, record, order } = await open(engine)
    directory.intercept = () => Response.json({ detail: 'Under repair.' }, { status: 500 })
    const first = await order()
    expect(first.order).toMatchObject({
      state: 'failed',
      reason: expect.stringMatching(/500: Under/),
    })
    expect(secondsUntil(first.order?.nextAttempt, clock.now)).toBe(60)
    const restarted = await start()
    const requests = directory.paths.length
    expect(await record(restarted)).toEqual(first)
    expect(directory.paths).toHaveLength(requests)
    for (const pause of [120, 240]) {
      clock.now = Date.parse((await record(restarted)).order?.nextAttempt ?? '')
      expect(secondsUntil((await record(restarted)).order?.nextAttempt, clock.now)).toBe(pause)
    }
    directory.intercept = () => undefined
    clock.now += DAY
    const { order: done, current } = await record(restarted)
    expect(done).toEqual({ state: 'valid' })
    expect(current?.names).toEqual(NAMES)
  })

  test('an account that the directory knows already is not changed without a contact', async () => {
    const { directory, order } = await open(engine)
    const headers = { 'Replay-Nonce': 'nonce', Location: 'https://acme.test/known' }
    directory.intercept = (path) => {
      if (path === 'account') return Response.json({ status: 'valid' }, { headers })
      if (path !== 'known') return undefined
      return Response.json({ detail: 'The update is empty.' }, { status: 400, headers })
    }
    expect((await order()).order).toEqual({ state: 'valid' })
  })

  test('a directory that asks to wait, is slow or malformed is a reason', async () => {
    const { clock, directory, record, order } = await open(engine)
    const answers: [Intercept, RegExp, number][] = [
      [
        () => Response.json({}, { status: 429, headers: { 'Retry-After': '7200' } }),
        /responded with 429$/,
        7_200,
      ],
      [
        (path) => (path === 'order' ? new Response('<html>') : undefined),
        /an order that is malformed/,
        120,
      ],
      [() => new Response('[]'), /an account that is malformed|an order that is malformed/, 240],
      [
        () => Promise.reject(new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } })),
        /cannot be reached: ECONNREFUSED/,
        480,
      ],
      [
        (_path, { signal }) =>
          new Promise((_resolve, reject) => {
            signal?.addEventListener('abort', () => reject(signal.reason))
          }),
        /acme\.test did not answer within 20 s/,
        960,
      ],
    ]
    vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
      const slow = new AbortController()
      setImmediate(() => slow.abort(new DOMException('slow', 'TimeoutError')))
      return slow.signal
    })
    for (const [at, [intercept, reason, pause]] of answers.entries()) {
      directory.intercept = intercept
      const failed = at === 0 ? await order() : await record()
      expect(failed.order?.reason).toMatch(reason)
      expect(secondsUntil(failed.order?.nextAttempt, clock.now)).toBe(pause)
      clock.now = Date.parse(failed.order?.nextAttempt ?? '')
    }
  })

  test('the previous certificate stays in use until another passes all checks', async () => {
    const { clock, directory, record, order } = await open(engine)
    const { current, renewal } = await order()
    expect(secondsUntil(renewal, clock.now)).toBe((60 * DAY) / 1000)
    clock.now += 61 * DAY
    directory.names = ['other.example']
    const failed = await record()
    expect(failed.order).toMatchObject({
      state: 'failed',
      reason: 'The issued certificate lacks the names web.example.',
    })
    expect(failed.current).toEqual(current)
    directory.names = NAMES
    clock.now += DAY
    const renewed = await record()
    expect(renewed.order).toEqual({ state: 'valid' })
    expect(renewed.current?.fingerprint).not.toBe(current?.fingerprint)
  })

  test('a certificate is renewed when the directory suggests it', async () => {
    const { clock, directory, record, order } = await open(engine)
    const begun = clock.now
    const day = (days: number) => begun + days * DAY
    directory.renewalWindow = { start: day(10), end: day(12) }
    const { current } = await order()
    clock.now += 60_000
    const { renewal = '' } = await record()
    expect(directory.paths.at(-1)).toMatch(/^renewal\/[\w-]{27}\.AKs$/)
    expect(Date.parse(renewal)).toBeGreaterThanOrEqual(day(10))
    expect(Date.parse(renewal)).toBeLessThanOrEqual(day(12))
    directory.renewalWindow = { start: day(-2), end: day(-1) }
    clock.now += DAY
    const renewed = await record()
    expect(renewed.order).toEqual({ state: 'valid' })
    expect(renewed.current?.notBefore).not.toBe(current?.notBefore)
  })

  test('a port that cannot be opened is the reason', async () => {
    const [httpPort = 0] = await freePorts(1)
    const other = createServer((socket) => socket.destroy())
    await once(other.listen(httpPort), 'listening')
    onTestFinished(() => void other.close())
    const { clock, directory, record, order } = await open(engine, { isServed: false, httpPort })
    const { order: failed } = await order()
    expect(failed?.reason).toMatch(new RegExp(`^Port ${httpPort} is used by another program`))
    expect(directory.paths).not.toContain('challenge')
    other.close()
    await once(other, 'close')
    clock.now += DAY
    expect((await record()).order).toEqual({ state: 'valid' })
  })
})

test('orders need a directory, its terms, and names that it can validate', async () => {
  const body = { name: 'web', kind: 'acme', names: NAMES }
  const without = await startForTest()
  onTestFinished(without.stop)
  const off = await without.request('POST', '/_api/certificate', body)
  expect(off.status).toBe(409)
  expect(off.json.errorMessage).toContain('Set GATEHOUSE_ACME_DIRECTORY')
  const acme = { directory: DIRECTORY, contact: undefined, agreed: true, httpPort: 80 }
  const terms = await startForTest({ acme: { ...acme, agreed: false } })
  onTestFinished(terms.stop)
  const refused = await terms.request('POST', '/_api/certificate', body)
  expect(refused.json.errorMessage).toContain('GATEHOUSE_ACME_TERMS=agreed')
  const node = await startForTest({ acme })
  onTestFinished(node.stop)
  const wrong = await node.request('POST', '/_api/certificate', {
    ...body,
    names: ['*.example', '192.0.2.1'],
    challenge: 'tls-alpn-01',
  })
  expect(wrong.status).toBe(422)
  expect(wrong.json.errors).toEqual([
    { field: '/names/0', reason: 'is a wildcard, which needs a challenge over DNS' },
    { field: '/names/1', reason: 'is an IP address; tls-alpn-01 validates only names' },
  ])
})
