import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Page } from '@playwright/test'
import { freePort } from './free-port.ts'
import { createToken, type ServerProcess, startServer } from './server-process.ts'
import { signInWithKey } from './sign-in.ts'

/** An answer to a request made outside the browser. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The body, parsed where it is JSON, otherwise as text. */
  readonly body: unknown
}

/** A real Gatehouse with a data folder of its own, ready when the test begins. */
export interface Gatehouse {
  /** Its first endpoint as a browser names it, `http://127.0.0.1:20000`: the journey's `baseURL`. */
  readonly url: string
  readonly port: number
  /** Its data folder, removed after the test. */
  readonly data: string
  /** The process that runs now. */
  readonly pid: number
  /** Everything it has printed so far, over all its starts. */
  readonly log: () => string
  /** Stops it in good order. */
  stop(): Promise<void>
  /** Ends it at once, as a power cut would. */
  kill(): Promise<void>
  /**
   * Starts it again with the same port and data, after stopping it if it runs; from then on with
   * these variables too.
   */
  restart(env?: Readonly<Record<string, string>>): Promise<void>
  /** A port that nobody listens on, for another endpoint. */
  freePort(): Promise<number>
  /** The key that the local provider asks for. */
  readonly operatorKey: string
  /** Signs in with the operator key, as people do, and goes to a page of the console. */
  signIn(page: Page, path?: string): Promise<void>
  /**
   * Asks outside the browser, as an admin by a token; `url` is a path, or a whole URL to ask another
   * endpoint.
   */
  get(url: string): Promise<Answer>
  /** Sends JSON outside the browser. */
  post(url: string, body: unknown): Promise<Answer>
  patch(url: string, body: unknown): Promise<Answer>
  put(url: string, body: unknown): Promise<Answer>
  /** Sends `DELETE` outside the browser. */
  delete(url: string): Promise<Answer>
}

/** What {@link openGatehouse} needs. */
export interface GatehouseOptions {
  /** Playwright's `parallelIndex`: each worker has ports of its own. */
  readonly worker: number
  /** What starts the server, before its own command line. */
  readonly launcher?: readonly string[]
  /** How long it lets connections finish, in seconds; left out: 1. */
  readonly drain?: number
  /** Added to the environment, from the first start on. */
  readonly env?: Readonly<Record<string, string>>
}

/**
 * Starts a server with a data folder of its own. `close` stops it in good order, throws where it does
 * not, and takes the folder away in any case.
 */
export async function openGatehouse(
  options: GatehouseOptions,
): Promise<Gatehouse & { close(): Promise<void> }> {
  const { worker, launcher = [], drain = 1 } = options
  const data = await mkdtemp(path.join(tmpdir(), 'gatehouse-e2e-'))
  const port = await freePort(worker)
  const url = `http://127.0.0.1:${port}`
  let printed = ''
  let server: ServerProcess | undefined
  const print = (text: string) => {
    printed += text
  }
  let env: Readonly<Record<string, string>> = options.env ?? {}
  let token: Promise<string> | undefined
  const start = async () => {
    server = await startServer({ port, data, print, env, launcher, drain }).catch(
      (error: Error) => {
        throw new Error(`${error.message}\n${printed}`, { cause: error })
      },
    )
  }
  const over = async (end: (running: ServerProcess) => Promise<void>) => {
    const running = server
    server = undefined
    if (running !== undefined) await end(running)
  }
  const stop = () => over((running) => running.stop())
  const kill = () => over((running) => running.kill())
  const takeAway = async () => {
    await kill()
    await rm(data, { recursive: true, force: true })
  }

  const ask = async (target: string, init?: RequestInit): Promise<Answer> => {
    // Made when it is first needed: many journeys ask for nothing outside the browser.
    token ??= createToken(data)
    const headers = { authorization: `Bearer ${await token}`, ...init?.headers }
    const response = await fetch(new URL(target, url), { redirect: 'manual', ...init, headers })
    const text = await response.text()
    const json = response.headers.get('content-type')?.startsWith('application/json')
    return {
      status: response.status,
      headers: response.headers,
      body: json ? JSON.parse(text) : text,
    }
  }
  const send = (method: string, target: string, body: unknown) =>
    ask(target, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })

  try {
    await start()
    const operatorKey = readFileSync(path.join(data, 'operator.key'), 'utf8').trim()
    return {
      operatorKey,
      signIn: (page, at = '/_console/endpoints') => signInWithKey(page, operatorKey, at),
      url,
      port,
      data,
      get pid() {
        return server?.pid ?? Number.NaN
      },
      log: () => printed,
      stop,
      kill,
      async restart(more = {}) {
        env = { ...env, ...more }
        await stop()
        await start()
      },
      freePort: () => freePort(worker),
      get: (target) => ask(target),
      post: (target, body) => send('POST', target, body),
      patch: (target, body) => send('PATCH', target, body),
      put: (target, body) => send('PUT', target, body),
      delete: (target) => ask(target, { method: 'DELETE' }),
      close: () => stop().finally(takeAway),
    }
  } catch (error) {
    await takeAway()
    throw error
  }
}
