import { Hono } from 'hono'
import { pino } from 'pino'
import { createClientOf } from '../http/client.ts'
import type { AppEnv, Via } from '../http/env.ts'
import { renderFailure, toFailure } from '../http/render-failure.ts'
import { securityHeaders } from '../http/security-headers.ts'
import type { Store } from '../storage/open.ts'
import { createVault } from '../storage/vault.ts'
import { createProvider } from './create-provider.ts'
import type { Identity } from './identity.ts'
import { createPendingSignIns } from './pending-sign-in.ts'
import type { Provider } from './provider.ts'
import type { ProviderConfig } from './provider-config.ts'
import { type BeginSession, CSRF_COOKIE, oauth2Routes } from './routes.ts'
import { createSignInLimit } from './sign-in-limit.ts'

/** What a test says of the server. */
export interface RigOptions {
  readonly store: Store
  readonly configs?: readonly ProviderConfig[]
  readonly providers?: readonly Provider[]
  readonly publicOrigin?: string
  readonly trusted?: readonly string[]
  /** Default: keeps the identity, and sets the cookie `session=<its number>`. */
  readonly beginSession?: BeginSession
}

/** The sign-in of a server without sockets; a valid session is the cookie `session=<number>`. */
export function createRig(options: RigOptions) {
  const { store, publicOrigin } = options
  const clock = { now: 1_700_000_000_000 }
  const now = () => clock.now
  const signedIn: Identity[] = []
  const lines: string[] = []
  const providers = [
    ...(options.configs ?? []).map((config) => createProvider(config, { now: Date.now })),
    ...(options.providers ?? []),
  ]
  const app = new Hono<AppEnv>().use(securityHeaders).route(
    '/_oauth2',
    oauth2Routes({
      limit: createSignInLimit(Date.now),
      providers,
      pending: createPendingSignIns(store, createVault(new Uint8Array(32)), now),
      beginSession:
        options.beginSession ??
        (async (_, identity) => `session=${signedIn.push(identity)}; Path=/; HttpOnly`),
      hasSession: async (c) => /(?:^|; )session=\d/.test(c.req.header('Cookie') ?? ''),
      clientOf: createClientOf(options.trusted ?? []),
      publicOrigin,
      fonts: undefined,
      log: pino({ level: 'trace' }, { write: (line) => lines.push(line) }),
    }),
  )
  app.onError((error, c) => renderFailure(toFailure(error), c))
  const via: Via = {
    name: 'tcp://127.0.0.1:8529',
    address: { scheme: 'tcp' },
    mapping: { names: [], defaultDatabase: '_system' },
    draining: new AbortController().signal,
  }
  const ask = (method: string, path: string, headers: Record<string, string> = {}, body?: string) =>
    app.request(
      path,
      { method, headers: { Host: 'localhost:8529', ...headers }, ...(body && { body }) },
      { via },
    )

  return {
    ask,
    clock,
    /** Who has signed in, in order. */
    signedIn,
    /** The lines of the log. */
    lines,
    /** Starts a sign-in: the token of the cookie, and where the person is sent to. */
    async start(name: string, headers: Record<string, string> = {}, body?: string) {
      const answer = await ask('POST', `/_oauth2/${name}/auth`, headers, body)
      const setCookie = answer.headers.get('Set-Cookie') ?? ''
      const token = new RegExp(`^${CSRF_COOKIE}=([^;]*)`).exec(setCookie)?.[1] ?? ''
      const location = answer.headers.get('Location') ?? ''
      return {
        answer,
        setCookie,
        token,
        location,
        /** The parameters that the provider is sent. */
        sent: location === '' ? new URLSearchParams() : new URL(location).searchParams,
      }
    },
    /** Comes back from the provider, with the cookie unless it is told another one. */
    async callback(name: string, query: Record<string, string> | string, cookie?: string) {
      const search = typeof query === 'string' ? query : `${new URLSearchParams(query)}`
      return ask(
        'GET',
        `/_oauth2/${name}/auth?${search}`,
        cookie === undefined
          ? {}
          : { Cookie: cookie.includes('=') ? cookie : `${CSRF_COOKIE}=${cookie}` },
      )
    },
  }
}

/** A configuration of seed 001's endpoints at a provider that a test has started. */
export const plainConfig = (
  origin: string,
  over: Partial<Extract<ProviderConfig, { kind: 'endpoints' }>> = {},
): ProviderConfig => ({
  kind: 'endpoints',
  name: 'oauth2',
  label: 'Example',
  form: 'csrf-in-url',
  clientId: 'app-id',
  clientSecret: 'canary-secret',
  authEndpoint: `${origin}/authorize?scope=user&access_type=offline`,
  tokenEndpoint: `${origin}/token`,
  refreshEndpoint: undefined,
  activeUserEndpoint: `${origin}/user`,
  ...over,
})
