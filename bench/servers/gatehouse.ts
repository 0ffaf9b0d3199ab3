import { join } from 'node:path'
import { NODE_FLAGS } from '../../bin/node-flags.js'
import { createRecorder, START } from '../../server/audit/record.ts'
import { createEndpointWriter } from '../../server/endpoints/registry/endpoint-writer.ts'
import { openStore } from '../../server/storage/open.ts'
import { endpointPath, makeToken } from '../../server/test-support/start.testing.ts'
import { FIRST_PORT, nextHost, portsOf, requestOk } from './address.ts'
import { makeFolder } from './folder.ts'
import { type Subject, startProcess } from './process.ts'

const MAIN = join(import.meta.dirname, '../../server/main.ts')

/**
 * Creates a data folder with `size` stored endpoints. Each reaches all databases unless
 * `databasesOf` returns others for its port.
 */
export async function storeEndpoints(
  size: number,
  databasesOf: (port: number) => string[] = () => [],
): Promise<{ data: string; host: string }> {
  const host = nextHost()
  const data = makeFolder(`gatehouse-${host}`)
  const store = await openStore({ data }, 'tool')
  const write = createEndpointWriter(store, createRecorder())
  await Promise.all(
    portsOf(size).map((port) =>
      write({ endpoint: `tcp://${host}:${port}`, databases: databasesOf(port), actor: START }),
    ),
  )
  await store.close()
  return { data, host }
}

/** A measured node. */
export interface Gatehouse extends Subject {
  /** Sends a request with a token of the operator. */
  readonly administer: (
    method: string,
    path: string,
    body?: unknown,
  ) => ReturnType<typeof requestOk>
}

/**
 * Starts a node on a data folder of {@link storeEndpoints}.
 *
 * @param nodeFlags flags of Node.js itself.
 * @param settings environment variables, `GATEHOUSE_…`; those of the caller are ignored.
 */
export async function startGatehouse(
  size: number,
  { data, host }: { data: string; host: string },
  nodeFlags: readonly string[] = [],
  settings: Readonly<Record<string, string>> = {},
): Promise<Gatehouse> {
  const flags = ['--data', data, '--endpoint', `tcp://${host}:${FIRST_PORT}`, '--drain', '1']
  const env = Object.entries(process.env).filter(([name]) => !name.startsWith('GATEHOUSE_'))
  const started = await startProcess(
    process.execPath,
    [...NODE_FLAGS, ...nodeFlags, MAIN, 'start', ...flags],
    { ...Object.fromEntries(env), ...settings },
    async (printed) => printed().includes('gatehouse is ready'),
  )
  const token = await makeToken({ data, databaseUrl: undefined })
  const administer = (method: string, path: string, body?: unknown) =>
    requestOk(host, FIRST_PORT, method, path, body, { Authorization: `Bearer ${token}` })
  const { json } = await administer('GET', '/_api/listener')
  const other = json.find(({ state }: { state: string }) => state !== 'listening')
  if (other !== undefined || json.length !== size) {
    throw new Error(
      `not every endpoint is listening: ${other?.error ?? `there are ${json.length}`}`,
    )
  }
  return {
    name: 'Gatehouse',
    size,
    host,
    ...started,
    path: '/_api/health',
    administer,
    async add(port) {
      const endpoint = `tcp://${host}:${port}`
      await administer('POST', '/_api/endpoint', { endpoint, databases: [] })
    },
    async remove(port) {
      await administer('DELETE', endpointPath(`tcp://${host}:${port}`))
    },
  }
}
