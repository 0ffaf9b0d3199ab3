import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createRecorder, START } from '../../audit/record.ts'
import { createTestCertificates } from '../../certificates/certificates.testing.ts'
import { openStore } from '../../storage/open.ts'
import type { Store } from '../../storage/store.ts'
import { createHttpEngine } from '../listeners/http-engine.ts'
import type { Listener } from '../listeners/listener.ts'
import { writeEndpoint } from './endpoint-writer.ts'
import { createEndpointRegistry, type EndpointRegistry } from './registry.ts'

let data: string
let store: Store
let endpoints: EndpointRegistry
let log: [string, string, ...unknown[]][]

beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'gatehouse-'))
  store = await openStore({ data }, 'node')
  log = []
  const record = (fields: { endpoint: string; reason?: string }, message: string) =>
    log.push([fields.endpoint, message, ...(fields.reason === undefined ? [] : [fields.reason])])
  endpoints = createEndpointRegistry({
    store,
    log: { info: record, error: record } as unknown as Logger,
    record: createRecorder(),
    engine: createHttpEngine<Listener>(),
    certificates: createTestCertificates(),
    publish: () => {},
    grace: 0,
  })
})

afterEach(async () => {
  await endpoints.stop(0)
  await store.close()
  await rm(data, { recursive: true, force: true })
})

test('a host is known as long as an endpoint has it', async () => {
  const host = '127.0.0.1'
  expect(endpoints.hasHost(host)).toBe(false)
  const any = { scheme: 'tcp', host, port: 0 } as const
  await endpoints.ensure({ scheme: 'unix', path: join(data, 'socket') }, START, true)
  await endpoints.ensure(any, START, true)
  await endpoints.ensure(any, START, true)
  const [first, second] = endpoints.listeners().map(({ name }) => name)
  expect(endpoints.hasHost(host)).toBe(true)

  await endpoints.remove(first as string, START)
  expect(endpoints.hasHost(host)).toBe(true)
  await endpoints.remove(second as string, START)
  expect(endpoints.hasHost(host)).toBe(false)
})

test('a listener is named with the port that the system chose', async () => {
  await endpoints.ensure({ scheme: 'tcp', host: '127.0.0.1', port: 0 }, START, true)
  const [listener] = endpoints.listeners()
  expect(listener?.name).toMatch(/^tcp:\/\/127\.0\.0\.1:[1-9][0-9]*$/)
  expect(endpoints.list()).toEqual([{ endpoint: listener?.name, databases: [] }])
})

test('the log records when an endpoint opens and closes', async () => {
  const endpoint = `unix://${join(data, 'socket')}`
  await endpoints.add({ endpoint, databases: [] }, START)
  await endpoints.ensure({ scheme: 'tcp', host: '127.0.0.1', port: 0 }, START, true)
  const other = endpoints.listeners().find(({ name }) => name !== endpoint)?.name ?? ''
  await endpoints.remove(endpoint, START)
  await expect.poll(() => log).toContainEqual([endpoint, 'endpoint closed'])
  expect(log).toEqual([
    [endpoint, 'listening'],
    [other, 'listening'],
    [endpoint, 'endpoint draining'],
    [endpoint, 'endpoint closed'],
  ])
})

test.each([
  ['deleted', (path: string) => rm(path)],
  ['moved away', (path: string) => rename(path, `${path}.moved`)],
])('a socket file that is %s is reported and created again', async (_, lose) => {
  const path = join(data, 'socket')
  const endpoint = `unix://${path}`
  await endpoints.add({ endpoint, databases: [] }, START)
  await lose(path)
  endpoints.sample(Date.now())
  const [listener] = endpoints.listeners()
  await expect.poll(() => listener?.state).toBe('failed')
  const reason = expect.stringContaining(`deleted or replaced the socket ${path}`)
  expect(listener?.error?.message).toEqual(reason)
  await expect.poll(() => listener?.state).toBe('listening')
  const client = connect(path)
  await once(client, 'connect')
  client.destroy()
  expect(log).toEqual([
    [endpoint, 'listening'],
    [endpoint, 'endpoint could not be opened', reason],
    [endpoint, 'listening'],
  ])
})

test('a file that replaces a socket file is kept and reported', async () => {
  const path = join(data, 'socket')
  await endpoints.add({ endpoint: `unix://${path}`, databases: [] }, START)
  await rm(path)
  await writeFile(path, 'notes')
  endpoints.sample(Date.now())
  const [listener] = endpoints.listeners()
  await expect.poll(() => listener?.error?.message).toContain('exists and is not a socket')
  expect(await readFile(path, 'utf8')).toBe('notes')
})

test('a stopping node opens no endpoint that another node added, and adds none', async () => {
  const endpoint = `unix://${join(data, 'socket')}`
  await endpoints.stop(0)
  await writeEndpoint(
    store,
    { endpoint, databases: [] },
    { actor: START, record: createRecorder() },
  )
  await endpoints.sync()
  expect(endpoints.listeners()).toEqual([])
  expect(existsSync(join(data, 'socket'))).toBe(false)
  await expect(
    endpoints.add({ endpoint: `${endpoint}2`, databases: [] }, START),
  ).rejects.toMatchObject({ code: 'unavailable' })
})
