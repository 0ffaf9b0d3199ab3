import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { freePorts } from '../../endpoints/listeners/free-ports.testing.ts'
import { forEachEngineNode } from '../../test-support/each-engine-node.testing.ts'
import { sendRequest } from '../../test-support/start.testing.ts'
import { connectTls, createTestAuthority, fingerprintOf } from '../certificates.testing.ts'
import { storeChallenges } from './stored-orders.ts'

forEachEngineNode((start) => {
  test('only challenges of orders of this server are answered', async () => {
    const acme = { directory: 'https://acme.test', contact: undefined, agreed: true, httpPort: 80 }
    const node = await start({ acme })
    onTestFinished(node.stop)
    const store = await node.openStore()
    const expires_at = Date.now() + 3_600_000
    const common = { certificate: 'web', answer: 'the answer' }
    const http = { ...common, token: 'token-h', name: 'a.example', kind: 'http-01' }
    const tls = { ...common, token: 'token-t', name: 'b.example', kind: 'tls-alpn-01' }
    const challenges = [
      { ...http, expires_at },
      { ...tls, expires_at },
      { ...http, token: 'expired', expires_at: 1 },
    ]
    await storeChallenges(store, challenges, 0)
    await store.close()

    const [port = 0, secure = 0] = await freePorts(2)
    const limited = `tcp://127.0.0.1:${port}`
    await node.request('POST', '/_api/endpoint', { endpoint: limited, databases: ['none'] })
    const ask = (token: string, from = port) =>
      sendRequest(from, 'GET', `/.well-known/acme-challenge/${token}`, {
        headers: { Host: 'a.example' },
      })
    expect(await ask('token-h')).toMatchObject({ status: 200, text: 'the answer' })
    for (const token of ['token-t', 'expired', 'other', 'token-h/', '%74oken-h']) {
      expect((await ask(token)).status, token).toBe(404)
    }

    const authority = await createTestAuthority()
    const issued = await authority.issue('b.example', 'c.example')
    const added = await node.request('POST', '/_api/certificate', {
      ...issued,
      name: 'default',
      kind: 'upload',
    })
    const endpoint = `ssl://127.0.0.1:${secure}`
    await node.request('POST', '/_api/endpoint', { endpoint, databases: [] })
    const shown = async (servername: string, protocol: string) => {
      const socket = await connectTls(secure, { servername, ALPNProtocols: [protocol] })
      const fingerprint = fingerprintOf(socket)
      if (protocol === 'acme-tls/1') await once(socket.resume(), 'close')
      socket.destroy()
      return fingerprint
    }
    const { fingerprint } = added.json.current
    expect(await shown('b.example', 'http/1.1')).toBe(fingerprint)
    expect(await shown('b.example', 'acme-tls/1')).not.toBe(fingerprint)
    expect(await shown('c.example', 'acme-tls/1')).toBe(fingerprint)
  })
})
