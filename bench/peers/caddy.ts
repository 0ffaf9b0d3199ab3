import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { FIRST_PORT, nextHost, portsOf, requestOk, respondsOk } from '../servers/address.ts'
import { makeFolder } from '../servers/folder.ts'
import { type Subject, startProcess } from '../servers/process.ts'

/**
 * Starts a Caddy with `size` servers, each with one listener and the same short response. Features
 * that would slow it down and that Gatehouse does not have are off: certificates, HTTP/2, the
 * access log, and persisting the configuration.
 */
export async function startCaddy(size: number): Promise<Subject> {
  const host = nextHost()
  const home = makeFolder(`caddy-${host}`)
  const server = (port: number) => ({
    listen: [`${host}:${port}`],
    protocols: ['h1'],
    automatic_https: { disable: true },
    routes: [{ handle: [{ handler: 'static_response', status_code: 200, body: 'ok' }] }],
  })
  // Caddy's admin API listens on the port before the first.
  const admin = FIRST_PORT - 1
  const config = {
    admin: { listen: `${host}:${admin}`, config: { persist: false } },
    logging: { logs: { default: { level: 'ERROR' } } },
    apps: {
      http: {
        servers: Object.fromEntries(portsOf(size).map((port) => [`port-${port}`, server(port)])),
      },
    },
  }
  const file = join(home, 'caddy.json')
  await writeFile(file, JSON.stringify(config))
  const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home }
  const last = FIRST_PORT + size - 1
  const started = await startProcess('caddy', ['run', '--config', file], env, () =>
    respondsOk(host, last, '/'),
  )
  const path = (port: number) => `/config/apps/http/servers/port-${port}`
  return {
    name: 'Caddy',
    size,
    host,
    ...started,
    path: '/',
    async add(port) {
      await retryConnecting(() => requestOk(host, admin, 'POST', path(port), server(port)))
    },
    async remove(port) {
      await retryConnecting(() => requestOk(host, admin, 'DELETE', path(port)))
    },
  }
}

/**
 * Reattempts connections: Caddy reopens its administration at each change, which resets new
 * connections.
 */
async function retryConnecting<T>(task: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await task()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).syscall !== 'connect' || attempts === 10) throw error
    }
  }
}
