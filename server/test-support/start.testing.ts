import { mkdtemp, rm } from 'node:fs/promises'
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Logger, pino } from 'pino'
import { createRecorder } from '../audit/record.ts'
import { createTokenByCommand } from '../cli/commands/token-create.ts'
import type { Config } from '../cli/config.ts'
import type { AccessLogOutput } from '../requests/module.ts'
import { type Node, start } from '../start.ts'
import { locationOf, openStore } from '../storage/open.ts'

/** A node that runs in the test process, on a free port. */
export interface TestNode {
  readonly node: Node
  /** Canonical address of its first endpoint. */
  readonly address: string
  readonly port: number
  readonly data: string
  /** An API token of the operator with full access. */
  readonly token: string
  /** Sends a request with the token, through the first endpoint or the given `port`. */
  readonly request: (
    method: string,
    path: string,
    body?: unknown,
    options?: RequestOptions,
  ) => Promise<TestResponse>
  /** Stops the node. Removes the data folder unless the test gave it. */
  readonly stop: () => Promise<void>
}

/** A complete response. */
export interface TestResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every shape
  readonly json: any
}

/** Default settings of test nodes; `data` is a new temporary folder. */
export const SETTINGS: Omit<Config, 'data'> = {
  endpoints: ['tcp://127.0.0.1:0'],
  databaseUrl: undefined,
  publicOrigin: undefined,
  node: 'test',
  drain: 2_000,
  readyDelay: 0,
  tls: undefined,
  keyFolders: [],
  log: 'silent',
  accessLog: undefined,
  operatorKey: undefined,
  secretKey: undefined,
  admins: [],
  trustedProxies: [],
  webhookAllow: [],
  providers: [],
  acme: undefined,
}

/** Starts a node for a test. `log` defaults to the level in the settings. */
export async function startForTest(
  settings: Partial<Config> = {},
  log: Logger = pino({ level: settings.log ?? SETTINGS.log }),
  accessLog?: AccessLogOutput,
): Promise<TestNode> {
  const data = settings.data ?? (await mkdtemp(join(tmpdir(), 'gatehouse-')))
  const config = { ...SETTINGS, ...settings, data }
  const outputs = { log: { dropped: 0 }, accessLog }
  const node = await start(config, log, join(data, 'no-console'), undefined, outputs)
  const token = await makeToken(config)
  const address = node.addresses[0] ?? ''
  const port = Number(/:([0-9]+)$/.exec(address)?.[1])
  return {
    node,
    address,
    port,
    data,
    token,
    request: (method, path, body, options) =>
      sendRequest(options?.port ?? port, method, path, {
        ...options,
        body,
        headers: { Authorization: `Bearer ${token}`, ...options?.headers },
      }),
    async stop() {
      await node.stop()
      if (settings.data === undefined) await rm(data, { recursive: true, force: true })
    },
  }
}

/** Creates a token of the operator with full access, while a node may be running. */
export async function makeToken(config: Pick<Config, 'data' | 'databaseUrl'>): Promise<string> {
  const store = await openStore(locationOf(config), 'tool')
  try {
    const flags = { name: 'tests', role: 'admin' }
    return await createTokenByCommand(store, createRecorder(), flags, Date.now())
  } finally {
    await store.close()
  }
}

/** Options of {@link sendRequest}. A body that is not a string is sent as JSON. */
export interface RequestOptions {
  readonly body?: unknown
  /** Overrides the port of the first endpoint, for {@link TestNode.request}. */
  readonly port?: number
  readonly headers?: Record<string, string>
  readonly host?: string
  readonly socketPath?: string
  /** Closes the connection. */
  readonly signal?: AbortSignal | undefined
}

/** Sends a request over a new connection: no pool, no keep-alive. */
export function sendRequest(
  port: number,
  method: string,
  path: string,
  { body, headers, host = '127.0.0.1', socketPath, signal }: RequestOptions = {},
): Promise<TestResponse> {
  return new Promise((resolve, reject) => {
    const where = socketPath === undefined ? { host, port } : { socketPath }
    const options = { ...where, method, path, headers, agent: false, signal }
    const request = httpRequest(options, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(parts).toString()
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          get json() {
            return JSON.parse(text)
          },
        })
      })
    })
    request.on('error', reject)
    request.end(body === undefined || typeof body === 'string' ? body : JSON.stringify(body))
  })
}

/** Returns `/_api/endpoint/<address>` with the address percent-encoded. */
export const endpointPath = (address: string): string =>
  `/_api/endpoint/${encodeURIComponent(address)}`
