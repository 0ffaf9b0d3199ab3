import { expect, test } from 'vitest'
import { freePorts } from '../../endpoints/listeners/free-ports.testing.ts'
import { MIB, startOnSmallDisk } from './small-disk.testing.ts'

// Tests a server whose data folder is on a small disk that fills up.

test('on a full disk changes get 507 and reads continue, until there is space', async () => {
  const { server, makeToken, call, health, fill, free } = await startOnSmallDisk()
  expect((await call('POST', '/things', { id: 'kept' })).status).toBe(201)
  // Unused tokens: the first use of a token writes to the store.
  const tokens = [makeToken(), makeToken()]
  expect(await health()).toEqual({
    alive: true,
    ready: true,
    writable: true,
    reason: null,
    waiting: 0,
  })

  fill()
  const change = () => call('POST', '/things', { text: 'x'.repeat(50_000) })
  // The write-ahead log may have some space left.
  await expect.poll(async () => (await change()).status).toBe(507)
  expect((await change()).json).toEqual({
    id: 'insufficient_storage',
    message: 'The disk is full. Nothing was changed.',
  })
  await expect.poll(async () => (await health()).writable).toBe(false)
  const ready = await call('GET', '/_api/health/ready')
  expect(ready.status).toBe(200)
  expect(ready.json.reason).toContain('the disk is full')
  expect((await call('GET', '/_api/metrics')).text).toContain('gatehouse_store_writable 0')
  for (const path of ['/things/kept', '/things?limit=1', '/_api/endpoint', '/_api/audit']) {
    for (const token of tokens) {
      const read = await call('GET', path, undefined, { Authorization: `Bearer ${token}` })
      expect([path, read.status]).toEqual([path, 200])
    }
  }
  const unknown = await call('GET', '/things/kept', undefined, { Authorization: 'Bearer unknown' })
  expect(unknown.status).toBe(401)
  expect((await call('POST', '/_api/database', { name: 'more' })).status).toBe(507)
  const job = await call('POST', '/things', [{}], { Prefer: 'respond-async' })
  expect(job.status).toBe(507)

  free()
  await expect.poll(async () => (await health()).writable).toBe(true)
  expect((await change()).status).toBe(201)
  expect(await health()).toEqual({
    alive: true,
    ready: true,
    writable: true,
    reason: null,
    waiting: 0,
  })
  const count = (text: string) => server.printed().split(text).length - 1
  await expect.poll(() => count('the database accepts changes again')).toBe(1)
  expect(count('the database does not accept changes')).toBe(1)
  server.signal('SIGTERM')
  expect(await server.exit).toEqual({ code: 0, signal: null })
})

test('imports, index builds and endpoint changes fail on a full disk and succeed after it', async () => {
  const { call, verifyAuditLog, health, fill, free } = await startOnSmallDisk()
  const text = 'x'.repeat(1_000)
  const documents = Array.from({ length: 1_000 }, (_, n) => ({ id: `d${n}`, text, n }))
  expect((await call('POST', '/things', documents)).status).toBe(201)
  const lines = documents.map((document) => JSON.stringify(document)).join('\n')
  const importAll = (headers = {}) =>
    call('POST', '/imported?on-conflict=replace', lines, {
      'Content-Type': 'application/x-ndjson',
      ...headers,
    })
  const createIndex = () => call('PUT', '/_index/things/by-text', { fields: ['text', 'n'] })
  const [port = 0] = await freePorts(1)
  const endpoint = `tcp://127.0.0.1:${port}`
  const addEndpoint = () => call('POST', '/_api/endpoint', { endpoint, databases: ['more'] })
  const endpoints = async () =>
    (await call('GET', '/_api/endpoint')).json.map((each: { endpoint: string }) => each.endpoint)
  const before = await endpoints()

  fill()
  await expect.poll(async () => (await health()).writable).toBe(false)
  expect((await importAll()).status).toBe(507)
  expect((await importAll({ Prefer: 'respond-async' })).status).toBe(507)
  expect((await createIndex()).status).toBe(507)
  expect((await addEndpoint()).status).toBe(507)
  expect(await endpoints()).toEqual(before)
  expect((await call('GET', '/things?limit=1')).status).toBe(200)

  free()
  await expect.poll(async () => (await health()).writable).toBe(true)
  expect((await importAll()).json).toMatchObject({ created: 1_000, failed: 0 })
  expect((await addEndpoint()).status).toBe(200)
  expect(await endpoints()).toContain(endpoint)
  expect((await createIndex()).status).toBe(201)
  await expect
    .poll(async () => (await call('GET', '/_index/things')).json)
    .toMatchObject([{ name: 'by-text', state: 'ready' }])
  expect(verifyAuditLog()).toMatch(/^[1-9][0-9]*:[0-9a-f]{64}$/)
})

/**
 * Starts a server with documents that need more space to be indexed or changed than is left, also
 * in the write-ahead log, which has about 4 MiB that SQLite uses again.
 */
async function startWithLittleSpace() {
  const disk = await startOnSmallDisk(64)
  const text = 'x'.repeat(1_000)
  for (let from = 0; from < 6_000; from += 1_000) {
    const documents = Array.from({ length: 1_000 }, (_, n) => ({ text, n: from + n }))
    expect((await disk.call('POST', '/things', documents)).status).toBe(201)
  }
  disk.fill(MIB.length)
  /** Waits for a line of the log. */
  const logged = (message: string) => expect.poll(disk.server.printed).toContain(message)
  /** Waits until the health tells whether the disk has space. */
  const reported = (writable: boolean) =>
    expect.poll(async () => (await disk.health()).writable).toBe(writable)
  return { ...disk, logged, reported }
}

test('an index build that fills the disk waits, and continues once there is space', async () => {
  const { call, logged, reported, free } = await startWithLittleSpace()
  const created = await call('PUT', '/_index/things/by-text', { fields: ['text', 'n'] })
  expect(created.status).toBe(201)
  await logged('an index could not be built')
  // Small changes, such as those of the health check, still fit on the disk.
  await reported(false)
  const index = async () => (await call('GET', '/_index/things')).json[0]
  expect(await index()).toMatchObject({ state: 'building' })
  expect((await call('GET', '/things?text:starts=x&n=7')).json).toHaveLength(1)

  free()
  await reported(true)
  await expect.poll(index).toMatchObject({ state: 'ready' })
  expect((await call('GET', '/things?text:starts=x&n=7')).json).toHaveLength(1)
})

test('a job that fills the disk keeps what it has done, and ends once there is space', async () => {
  const { call, logged, reported, free } = await startWithLittleSpace()
  const async = { Prefer: 'respond-async' }
  const started = await call('PATCH', '/things?n:gte=1', { changed: 'x'.repeat(500) }, async)
  expect(started.status).toBe(202)
  const read = async () => (await call('GET', String(started.headers.location))).json
  const changed = async () => {
    const counted = { Prefer: 'count=exact' }
    const { headers } = await call('GET', '/things?changed:exists=true', undefined, counted)
    return Number(headers['x-total-count'])
  }
  await logged('a job failed to continue')
  await reported(false)
  const kept = await changed()

  free()
  await reported(true)
  await expect.poll(async () => (await read()).state).not.toBe('running')
  const job = await read()
  if (job.state === 'failed') expect(job.failure).toMatchObject({ id: 'insufficient_storage' })
  expect(job.found).toBeGreaterThanOrEqual(kept)
  expect(await changed()).toBe(job.found)
})

test('a full disk is detected without any change', async () => {
  const { health, fill, free } = await startOnSmallDisk()
  fill()
  await expect.poll(async () => (await health()).writable).toBe(false)
  free()
  await expect.poll(async () => (await health()).writable).toBe(true)
})
