import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { START } from '../../../audit/record.ts'
import { createTestCertificates } from '../../../certificates/certificates.testing.ts'
import { openStore } from '../../../storage/open.ts'
import { createEndpointRegistry } from '../../registry/registry.ts'
import { createHttpEngine } from '../http-engine.ts'
import type { Listener } from '../listener.ts'
import { createConnectionLimit, openFilesLimit } from './connection-limit.ts'

describe('createConnectionLimit', () => {
  it('reserves descriptors for the database, listeners and the administration', () => {
    const limit = createConnectionLimit(200, () => 4)
    const taken = (reserved: boolean) => {
      let count = 0
      while (limit.enter(reserved)) count++
      return count
    }
    expect(taken(false)).toBe(68)
    expect(taken(true)).toBe(32)
    limit.leave()
    expect(taken(false)).toBe(0)
    expect(taken(true)).toBe(1)
  })

  it('allows some connections with any limit', () => {
    const limit = createConnectionLimit(10, () => 5_000)
    expect(limit.enter(false)).toBe(true)
  })
})

describe('openFilesLimit', () => {
  it('returns the limit of the system', () => {
    expect(openFilesLimit()).toBeGreaterThan(100)
  })
})

describe('a node at its connection limit', () => {
  it('closes connections to data endpoints, and serves those to the administration', async () => {
    const data = mkdtempSync(join(tmpdir(), 'gatehouse-'))
    const store = await openStore({ data }, 'node')
    const engine = createHttpEngine<Listener>()
    engine.onRequest((_request, response) => response.end('here'))
    const registry = createEndpointRegistry({
      store,
      engine,
      record: async () => {},
      certificates: createTestCertificates(),
      publish: () => {},
      grace: 0,
      openFiles: 140,
    })
    const sockets: Socket[] = []
    /** Whether a connection is served. */
    const served = (port: number) =>
      new Promise<boolean>((resolve) => {
        const socket = connect(port, '127.0.0.1', () =>
          socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
        )
        sockets.push(socket)
        socket.once('data', () => resolve(true))
        socket.once('error', () => resolve(false))
        socket.once('close', () => resolve(false))
      })
    try {
      const port = async (databases: string[]) => {
        await registry.ensure({ scheme: 'tcp', host: '127.0.0.1', port: 0 }, START, true)
        const address = registry.list().find((each) => !known.has(each.endpoint))?.endpoint ?? ''
        known.add(address)
        if (databases.length > 0) await registry.add({ endpoint: address, databases }, START)
        return Number(/[0-9]+$/.exec(address)?.[0])
      }
      const known = new Set<string>()
      const admin = await port([])
      const blog = await port(['blog'])
      // 140 files, less 96 for other uses, 2 listeners and 32 reserved connections, leave 10.
      const first = await Promise.all(Array.from({ length: 10 }, () => served(blog)))
      expect(first).toEqual(Array(10).fill(true))
      expect(await served(blog)).toBe(false)
      expect(await served(admin)).toBe(true)
      // Connections to `_system` count too, so two must close before another one is accepted.
      sockets[11]?.destroy()
      sockets[0]?.destroy()
      await expect.poll(() => served(blog)).toBe(true)
    } finally {
      for (const socket of sockets) socket.destroy()
      await registry.stop(0)
      engine.close()
      await store.close()
      rmSync(data, { recursive: true })
    }
  })
})
