import { once } from 'node:events'
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { sendRequest } from '../../test-support/start.testing.ts'
import { KeepAliveClient } from '../listeners/keep-alive-client.testing.ts'
import { listeningAddresses } from '../listeners/kernel-sockets.testing.ts'
import { add, createEndpointFixture, DONE, remove } from './endpoint-fixture.testing.ts'

const fixture = createEndpointFixture()
const { start, occupy } = fixture

describe('a unix endpoint', () => {
  let path: string
  let endpoint: string

  beforeEach(() => {
    path = join(fixture.folder, 'gatehouse.sock')
    endpoint = `unix://${path}`
  })

  /** Leaves a stale socket file, as a killed process does. */
  async function leaveStale(): Promise<void> {
    const server = await occupy({ path: `${path}.moving` })
    // The server removes its original path when it closes, so rename the socket first.
    renameSync(`${path}.moving`, path)
    server.close()
    await once(server, 'close')
  }

  const health = () => sendRequest(0, 'GET', '/_api/health', { socketPath: path })

  test('is accessible to its owner and group only, and removes its file', async () => {
    const node = await start()
    expect((await add(node, endpoint)).json).toEqual(DONE)
    expect((statSync(path).mode & 0o777).toString(8)).toBe('660')
    expect((await health()).status).toBe(200)
    expect(await listeningAddresses(process.pid)).toContain(endpoint)
    expect((await remove(node, endpoint)).json).toEqual(DONE)
    expect(existsSync(path)).toBe(false)
  })

  test('keeps a file that has replaced its own', async () => {
    const node = await start()
    await add(node, endpoint)
    rmSync(path)
    writeFileSync(path, 'notes')
    expect((await remove(node, endpoint)).json).toEqual(DONE)
    expect(readFileSync(path, 'utf8')).toBe('notes')

    rmSync(path)
    await add(node, endpoint)
    rmSync(path)
    await occupy({ path })
    expect((await remove(node, endpoint)).json).toEqual(DONE)
    const client = connect(path)
    await once(client, 'connect')
    client.destroy()
    expect(readdirSync(fixture.folder).filter((name) => name.startsWith('gatehouse.sock'))).toEqual(
      ['gatehouse.sock'],
    )
  })

  test('replaces a stale socket', async () => {
    const node = await start()
    await leaveStale()
    expect(statSync(path).isSocket()).toBe(true)
    expect((await add(node, endpoint)).json).toEqual(DONE)
    expect((await health()).status).toBe(200)
    expect((statSync(path).mode & 0o777).toString(8)).toBe('660')
  })

  test('keeps its file when it is added again while the old one drains', async () => {
    const node = await start({ drain: 10_000 })
    await add(node, endpoint)
    const slow = await KeepAliveClient.open({ path })
    await slow.sendPart('GET /_api/health HTTP/1.1\r\n')
    await remove(node, endpoint)
    expect((await add(node, endpoint)).json).toEqual(DONE)
    expect(await slow.request('Host: localhost\r\n\r\n')).toMatchObject({
      status: 200,
      close: true,
    })
    await slow.ended
    expect((await health()).status).toBe(200)
  })
})
