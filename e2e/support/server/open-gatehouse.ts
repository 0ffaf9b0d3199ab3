import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Cookie, Page } from '@playwright/test'
import { createToken, openConsole, openSession, signInWithKey } from '../sign-in.ts'
import { freePort } from './free-port.ts'
import { type ServerProcess, startServer } from './server-process.ts'

/** A response to a request made outside the browser. */
export interface ApiResponse {
  readonly status: number
  readonly headers: Headers
  /** The body, parsed if it is JSON, otherwise as text. */
  readonly body: unknown
}

/** A running Gatehouse. */
export interface Gatehouse {
  /** The URL of its first endpoint, `http://127.0.0.1:20000`: the journey's `baseURL`. */
  readonly url: string
  readonly port: number
  /** Its data folder. */
  readonly data: string
  /** Returns a free port for another endpoint. */
  freePort(): Promise<number>
  /** The operator key. */
  readonly operatorKey: string
  /** Opens a page of the console as the operator. */
  signIn(page: Page, path?: string): Promise<void>
  /** Returns an admin's token. */
  token(): Promise<string>
  /**
   * Sends a GET request outside the browser, with an admin's token. `url` is a path, or a full URL
   * for another endpoint.
   */
  get(url: string): Promise<ApiResponse>
  /** Sends JSON outside the browser. */
  post(url: string, body: unknown): Promise<ApiResponse>
  patch(url: string, body: unknown): Promise<ApiResponse>
  put(url: string, body: unknown): Promise<ApiResponse>
  /** Sends `DELETE` outside the browser. */
  delete(url: string): Promise<ApiResponse>
}

/** A Gatehouse whose process the test controls. */
export interface GatehouseProcess extends Gatehouse {
  /** The pid of the current process. */
  readonly pid: number
  /** Returns the output of all its starts. */
  readonly log: () => string
  /** Stops it gracefully. */
  stop(): Promise<void>
  /** Kills it, as a power cut would. */
  kill(): Promise<void>
  /**
   * Restarts it with the same port and data, stopping it first if it runs. `env` is added for this
   * and later starts.
   */
  restart(env?: Readonly<Record<string, string>>): Promise<void>
  /** Ends all sessions of the operator. */
  endSessions(): Promise<void>
}

export interface GatehouseOptions {
  /** Playwright's `parallelIndex`: each worker has its own ports. */
  readonly worker: number
  /** A program that starts the server, with its arguments. */
  readonly launcher?: readonly string[]
  /** How long connections may finish, seconds; default 1. */
  readonly drain?: number
  /** Added to the environment of every start. */
  readonly env?: Readonly<Record<string, string>>
  /** Whether all pages share the session of one sign-in, instead of one session for each sign-in. */
  readonly oneSession?: boolean
}

/**
 * Starts a server with its own data folder. `close` stops it gracefully, throws if that fails, and
 * always removes the folder.
 */
export async function openGatehouse(
  options: GatehouseOptions,
): Promise<GatehouseProcess & { close(): Promise<void> }> {
  const { worker, launcher = [], drain = 1, oneSession = false } = options
  const data = await mkdtemp(path.join(tmpdir(), 'gatehouse-e2e-'))
  const port = await freePort(worker)
  const url = `http://127.0.0.1:${port}`
  let printed = ''
  let server: ServerProcess | undefined
  const print = (text: string) => {
    printed += text
  }
  let env: Readonly<Record<string, string>> = options.env ?? {}
  let access: Promise<string> | undefined
  let session: Promise<Cookie[]> | undefined
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

  const operatorKey = () => readFileSync(path.join(data, 'operator.key'), 'utf8').trim()
  // Created on first use: many journeys send no request outside the browser.
  const token = () => {
    access ??= createToken(url, operatorKey())
    return access
  }
  const sendRequest = async (target: string, init?: RequestInit): Promise<ApiResponse> => {
    const headers = { authorization: `Bearer ${await token()}`, ...init?.headers }
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
    sendRequest(target, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })

  try {
    await start()
    return {
      operatorKey: operatorKey(),
      async signIn(page, at = '/_console/endpoints') {
        if (!oneSession) return signInWithKey(page, operatorKey(), at)
        session ??= openSession(url, operatorKey())
        await page.context().addCookies(await session)
        await openConsole(page, at)
      },
      token,
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
      async endSessions() {
        const { status } = await sendRequest('/_db/_system/_api/user/me/session/all', {
          method: 'DELETE',
        })
        if (status >= 300) throw new Error(`the sessions have not ended: ${status}`)
        session = undefined
      },
      freePort: () => freePort(worker),
      get: (target) => sendRequest(target),
      post: (target, body) => send('POST', target, body),
      patch: (target, body) => send('PATCH', target, body),
      put: (target, body) => send('PUT', target, body),
      delete: (target) => sendRequest(target, { method: 'DELETE' }),
      close: () => stop().finally(takeAway),
    }
  } catch (error) {
    await takeAway()
    throw error
  }
}
