import { once } from 'node:events'
import { copyFileSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { beforeEach, describe, expect, test } from 'vitest'
import { freePorts } from '../listeners/free-ports.testing.ts'
import { add, createEndpointFixture, DONE, listenerOf, remove } from './endpoint-fixture.testing.ts'

const fixture = createEndpointFixture()
const { start } = fixture
let port: number
beforeEach(() => {
  port = fixture.port
})

describe('an ssl endpoint', () => {
  const testdata = (name: string) => join(import.meta.dirname, 'testdata', name)
  let tls: { cert: string; key: string }
  let endpoint: string

  beforeEach(() => {
    tls = { cert: join(fixture.folder, 'cert.pem'), key: join(fixture.folder, 'key.pem') }
    copyFileSync(testdata('first.cert.pem'), tls.cert)
    copyFileSync(testdata('first.key.pem'), tls.key)
    endpoint = `ssl://127.0.0.1:${port}`
  })

  /** Sends a request over TLS, trusting a single certificate; resolves with the whole response. */
  async function askTls(trusted: string): Promise<string> {
    const socket = connectTls({
      port,
      host: '127.0.0.1',
      ca: readFileSync(testdata(trusted)),
      ALPNProtocols: ['http/1.1'],
    })
    let text = ''
    socket.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
    await once(socket, 'secureConnect')
    socket.write('GET /_api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
    await once(socket, 'close')
    return text
  }

  test('responds over TLS, and survives plain HTTP', async () => {
    const node = await start({ tls })
    expect((await add(node, endpoint)).json).toEqual(DONE)
    const held = connectTls({
      port,
      host: '127.0.0.1',
      ca: readFileSync(testdata('first.cert.pem')),
    })
    await once(held, 'secureConnect')
    const plain = connect(port, '127.0.0.1').setEncoding('utf8')
    let answer = ''
    plain.on('data', (part: string) => {
      answer += part
    })
    plain.on('error', () => {})
    plain.write('GET /_api/health HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await once(plain, 'close')
    expect(answer).not.toContain('HTTP/1.1')
    expect(await askTls('first.cert.pem')).toMatch(/^HTTP\/1\.1 200 .*"ready":true/s)
    // The existing connection still works.
    held.write('GET /_api/health HTTP/1.1\r\nHost: localhost\r\n\r\n')
    expect(String((await once(held, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /)
    held.destroy()
  })

  test('uses a renewed certificate without a restart', async () => {
    const node = await start({ tls })
    await add(node, endpoint)
    await expect(askTls('renewed.cert.pem')).rejects.toThrow(/self-signed|verify/)
    // The certificate and the key do not match yet: the last valid pair stays in use.
    copyFileSync(testdata('renewed.cert.pem'), tls.cert)
    expect(await askTls('first.cert.pem')).toMatch(/^HTTP\/1\.1 200 /)
    copyFileSync(testdata('renewed.key.pem'), tls.key)
    await expect.poll(() => askTls('renewed.cert.pem')).toMatch(/^HTTP\/1\.1 200 /)
    await expect(askTls('first.cert.pem')).rejects.toThrow(/self-signed|verify/)
    // Endpoints that are added from now on use it as well.
    const [another = 0] = await freePorts(1)
    expect((await remove(node, endpoint)).status).toBe(200)
    port = another
    expect((await add(node, `ssl://127.0.0.1:${port}`)).json).toEqual(DONE)
    expect(await askTls('renewed.cert.pem')).toMatch(/^HTTP\/1\.1 200 /)
  })

  test('closes its idle connections when it is removed, before and after the handshake', async () => {
    const node = await start({ tls, drain: 600_000 })
    await add(node, endpoint)
    const ca = readFileSync(testdata('first.cert.pem'))
    const idle = connectTls({ port, host: '127.0.0.1', ca })
    idle.on('error', () => {})
    await once(idle, 'secureConnect')
    const silent = connect(port, '127.0.0.1')
    silent.on('error', () => {})
    const closed = [idle, silent].map((socket) => once(socket, 'close'))
    await expect.poll(async () => (await listenerOf(node, endpoint))?.connections).toBe(1)
    await remove(node, endpoint)
    await Promise.all(closed)
    await expect.poll(() => listenerOf(node, endpoint)).toBe(undefined)
  })
})
