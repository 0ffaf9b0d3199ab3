import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { createServer, request as httpsRequest, type RequestOptions } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { freePorts } from '../../endpoints/listeners/free-ports.testing.ts'
import { createAuthority, issueCertificate } from '../x509.ts'

/** Debian's Pebble, an ACME directory for tests, which validates every name at this machine. */
export interface Pebble {
  /** The environment of a node that orders from it. */
  readonly env: Readonly<Record<string, string>>
  /** The port at which it expects answers over TLS. */
  readonly tlsPort: number
  /** Returns the certificate that its chains end with, PEM. */
  root(): Promise<string>
  /** Called with the path of each request; its response is passed on when it resolves. */
  onResponse: (path: string) => Promise<void>
  stop(): Promise<void>
}

/** Starts Pebble behind a proxy. It rejects every second nonce. */
export async function startPebble(): Promise<Pebble> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-pebble-'))
  const write = (name: string, content: string) => {
    writeFileSync(join(folder, name), content)
    return join(folder, name)
  }
  const authority = await createAuthority('test', Date.now())
  const { certificate, key } = await issueCertificate(authority, ['127.0.0.1'], Date.now())
  const files = { certificate: write('cert.pem', certificate), privateKey: write('key.pem', key) }
  const [listen = 0, management = 0, dns = 0, dnsManagement = 0, proxy = 0, http = 0, tls = 0] =
    await freePorts(7)
  const config = write(
    'config.json',
    JSON.stringify({
      pebble: {
        listenAddress: `127.0.0.1:${listen}`,
        managementListenAddress: `127.0.0.1:${management}`,
        ...files,
        httpPort: http,
        tlsPort: tls,
      },
    }),
  )
  const quiet = { stdio: 'ignore' } as const
  const resolver = spawn(
    'pebble-challtestsrv',
    [
      ...['-dns01', `127.0.0.1:${dns}`, '-management', `127.0.0.1:${dnsManagement}`],
      ...['-defaultIPv4', '127.0.0.1', '-defaultIPv6', ''],
      ...['-http01', '', '-https01', '', '-tlsalpn01', ''],
    ],
    quiet,
  )
  const settings = { PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '50', PEBBLE_AUTHZREUSE: '0' }
  const pebble = spawn('pebble', ['-config', config, '-dnsserver', `127.0.0.1:${dns}`], {
    ...quiet,
    env: { ...process.env, ...settings },
  })
  const result: Pebble = {
    env: {
      NODE_EXTRA_CA_CERTS: write('authority.pem', authority.certificate),
      GATEHOUSE_ACME_DIRECTORY: `https://127.0.0.1:${proxy}/dir`,
      GATEHOUSE_ACME_TERMS: 'agreed',
      GATEHOUSE_ACME_HTTP_PORT: String(http),
    },
    tlsPort: tls,
    root: () => send({ port: management, path: '/roots/0' }).then(({ body }) => String(body)),
    onResponse: async () => {},
    async stop() {
      server.close()
      server.closeAllConnections()
      await Promise.all([end(pebble), end(resolver)])
      rmSync(folder, { recursive: true })
    },
  }
  const server: Server = createServer({ cert: certificate, key }, async (request, response) => {
    const { method, url: path = '', headers } = request
    const {
      status,
      headers: answered,
      body,
    } = await send({ port: listen, method, path, headers }, await buffer(request))
    await result.onResponse(path)
    response.writeHead(status, answered).end(body)
  })
  await once(server.listen(proxy, '127.0.0.1'), 'listening')
  // Not `vi.waitFor`: Playwright loads this file too.
  while (!(await answers(listen)) && pebble.exitCode === null) await pause(50)
  return result
}

const answers = (port: number): Promise<boolean> =>
  send({ port, path: '/dir' }).then(
    () => true,
    () => false,
  )

async function send(options: RequestOptions, body?: Buffer) {
  const request = httpsRequest({
    host: '127.0.0.1',
    rejectUnauthorized: false,
    agent: false,
    ...options,
  })
  request.end(body)
  const [response] = await once(request, 'response')
  return {
    status: response.statusCode,
    headers: response.headers,
    body: await buffer(response),
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}
