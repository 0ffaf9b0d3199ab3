import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { NODE_FLAGS } from '../../bin/node-flags.js'
import { SECRETS } from '../../server/nodes/integration/node-processes.testing.ts'
import type { StoreLocation } from '../../server/storage/open.ts'
import { makeToken, sendRequest } from '../../server/test-support/start.testing.ts'
import { nextHost, FIRST_PORT as PORT } from '../servers/address.ts'
import { type Subject, startProcess } from '../servers/process.ts'
import { NEW } from './articles.ts'

/** Period of the inserts during a build, ms. */
const INSERT_PERIOD = 10

/** A node, and how to send requests to it. */
export interface Node {
  readonly host: string
  readonly server: Pick<Subject, 'process' | 'stop'>
  /** The header `Authorization` as text. */
  readonly token: string
  /** Sends a request. @throws if the status is not 2xx, or if `signal` closes the connection. */
  readonly call: (
    method: string,
    path: string,
    body?: unknown,
    signal?: AbortSignal,
  ) => ReturnType<typeof sendRequest>
}

/** Starts a node on a store. */
export async function startNode(location: StoreLocation): Promise<Node> {
  const host = nextHost()
  const store =
    'data' in location ? ['--data', location.data] : ['--database-url', location.databaseUrl]
  const env = Object.entries(process.env).filter(([name]) => !name.startsWith('GATEHOUSE_'))
  const main = join(import.meta.dirname, '../..', 'server', 'main.ts')
  const server = await startProcess(
    process.execPath,
    [...NODE_FLAGS, main, 'start', ...store, '--endpoint', `tcp://${host}:${PORT}`, '--drain', '1'],
    { ...Object.fromEntries(env), ...('data' in location ? {} : SECRETS) },
    async (printed) => printed().includes('gatehouse is ready'),
  )
  const token = `Bearer ${await makeToken({ data: '', databaseUrl: undefined, ...location })}`
  return {
    host,
    server,
    token: `Authorization: ${token}\r\n`,
    async call(method, path, body, signal) {
      const headers = { 'Content-Type': 'application/json', Authorization: token }
      const response = await sendRequest(PORT, method, path, { host, body, headers, signal })
      if (response.status < 300) return response
      throw new Error(`${method} ${path} answered ${response.status}: ${response.text}`)
    },
  }
}

/**
 * Creates an index, and waits until it is ready. Returns the times of inserts during its build, ms.
 */
export async function buildIndex(
  { call }: Node,
  collection: string,
  name: string,
  fields: readonly string[],
) {
  await call('PUT', `/_db/library/_index/${collection}/${name}`, { fields })
  const begun = performance.now()
  const pending: Promise<number>[] = []
  const insert = async () => {
    const sent = performance.now()
    await call('POST', '/_db/library/others', NEW)
    return performance.now() - sent
  }
  const timer = setInterval(() => pending.push(insert()), INSERT_PERIOD)
  for (let isReady = false; !isReady; await pause(100)) {
    const { json } = await call('GET', `/_db/library/_index/${collection}`)
    isReady = json.find((each: { name: string }) => each.name === name).state === 'ready'
  }
  clearInterval(timer)
  return { time: performance.now() - begun, times: await Promise.all(pending) }
}
