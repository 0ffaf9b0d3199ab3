import { mkdtemp, rm } from 'node:fs/promises'
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Logger, pino } from 'pino'
import { createTokenByCommand } from './access-command.ts'
import { createRecorder } from './audit/record.ts'
import type { Config } from './config.ts'
import { type Node, start } from './start.ts'
import { openStore } from './storage/open.ts'

/** A node started by a test, in its process, on a port that the system chose. */
export interface TestNode {
  readonly node: Node
  /** Canonical address of its first endpoint. */
  readonly address: string
  readonly port: number
  readonly data: string
  /** An API token of the operator, for everything. */
  readonly token: string
  /** Asks with the token, through the first endpoint unless `port` names another. */
  readonly ask: (
    method: string,
    path: string,
    body?: unknown,
    options?: AskOptions,
  ) => Promise<Answer>
  /** Stops it; the data folder is removed unless it was given. */
  readonly stop: () => Promise<void>
}

/** An answer, read whole. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly json: any
}

/** The settings of a node for tests; `data` is missing and made. */
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
  operatorKey: undefined,
  secretKey: undefined,
  admins: [],
  trustedProxies: [],
  providers: [],
}

/** Starts a node for a test; `log`: where it logs to, by default what the settings say. */
export async function startForTest(
  settings: Partial<Config> = {},
  log: Logger = pino({ level: settings.log ?? SETTINGS.log }),
): Promise<TestNode> {
  const data = settings.data ?? (await mkdtemp(join(tmpdir(), 'gatehouse-')))
  const config = { ...SETTINGS, ...settings, data }
  const node = await start(config, log, join(data, 'no-console'))
  const token = await makeToken(config)
  const address = node.addresses[0] ?? ''
  const port = Number(/:([0-9]+)$/.exec(address)?.[1])
  return {
    node,
    address,
    port,
    data,
    token,
    ask: (method, path, body, options) =>
      ask(options?.port ?? port, method, path, {
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

/** Makes a token of the operator, for everything, beside a node that may be running. */
export async function makeToken({
  data,
  databaseUrl,
}: Pick<Config, 'data' | 'databaseUrl'>): Promise<string> {
  const store = await openStore(databaseUrl === undefined ? { data } : { databaseUrl }, 'tool')
  try {
    const flags = { name: 'tests', role: 'admin' }
    return await createTokenByCommand(store, createRecorder(), flags, Date.now())
  } finally {
    await store.close()
  }
}

/** What else a request of {@link ask} may carry. A body that is no string is sent as JSON. */
export interface AskOptions {
  readonly body?: unknown
  /** Another port than that of the first endpoint, for {@link TestNode.ask}. */
  readonly port?: number
  readonly headers?: Record<string, string>
  readonly host?: string
  readonly socketPath?: string
}

/** Asks over a connection of its own: no pool, no keep-alive. */
export function ask(
  port: number,
  method: string,
  path: string,
  { body, headers, host = '127.0.0.1', socketPath }: AskOptions = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const where = socketPath === undefined ? { host, port } : { socketPath }
    const request = httpRequest({ ...where, method, path, headers, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        text += part
      })
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          get json() {
            return JSON.parse(text)
          },
        }),
      )
    })
    request.on('error', reject)
    request.end(body === undefined || typeof body === 'string' ? body : JSON.stringify(body))
  })
}

/** `/_api/endpoint/<address>`, encoded as the seed asks. */
export const endpointPath = (address: string): string =>
  `/_api/endpoint/${encodeURIComponent(address)}`
