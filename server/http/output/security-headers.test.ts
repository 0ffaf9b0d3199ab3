import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import type { AppEnv } from '../env.ts'
import { nodeHandler } from '../node-handler.ts'
import { securityHeaders } from './security-headers.ts'

test('a response keeps its own headers and gets the others', async () => {
  const app = new Hono<AppEnv>()
    .use(securityHeaders)
    .get('/', (c) => c.text('done', 200, { 'Content-Security-Policy': "default-src 'self'" }))
  const listener = { address: { scheme: 'ssl' } } as AppEnv['Bindings']['listener']
  const server = createServer(nodeHandler(app.fetch, () => listener))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const { headers } = await fetch(`http://127.0.0.1:${port}/`)
  server.closeAllConnections()
  server.close()
  expect(headers.get('Content-Security-Policy')).toBe("default-src 'self'")
  expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
  expect(headers.get('Strict-Transport-Security')).toBe('max-age=31536000')
})
