import { Hono } from 'hono'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { invitationEnded } from '../../access/invitations.ts'
import type { SignIn } from '../../access/sessions.ts'
import type { AppEnv, ListenerContext } from '../../http/env.ts'
import { createClientOf } from '../../http/guards/client-address.ts'
import { CSRF_COOKIE } from '../../http/guards/sign-in-cookies.ts'
import { renderFailure, toFailure } from '../../http/output/render-failure.ts'
import { securityHeaders } from '../../http/output/security-headers.ts'
import type { Store } from '../../storage/store.ts'
import type { TestEngine } from '../../storage/test-support/each-engine.testing.ts'
import { createVault } from '../../storage/vault.ts'
import type { FailedSignIn } from '../failed-sign-ins.ts'
import { createProvider } from '../providers/managed-providers.ts'
import { type PlainProvider, startPlainProvider } from '../providers/plain-provider.testing.ts'
import type { Provider } from '../providers/provider.ts'
import type { ProviderConfig } from '../providers/provider-config.ts'
import { type BeginSession, oauth2Routes } from '../routes.ts'
import { createPendingSignIns } from './pending-sign-in.ts'
import { createProviderTests } from './provider-tests.ts'
import { createSignInLimit } from './sign-in-limit.ts'

export interface SignInHarnessOptions {
  readonly store: Store
  readonly configs?: readonly ProviderConfig[]
  readonly providers?: readonly Provider[]
  readonly publicOrigin?: string
  readonly trusted?: readonly string[]
  /** Default: adds the sign-in to `signedIn` and sets the cookie `session=<number>`. */
  readonly beginSession?: BeginSession
}

/**
 * Creates the sign-in routes of a server without sockets. The cookie `session=<number>` is a valid
 * session.
 */
export function createSignInHarness(options: SignInHarnessOptions) {
  const { store, publicOrigin } = options
  const clock = { now: 1_700_000_000_000 }
  const now = () => clock.now
  const signedIn: SignIn[] = []
  const lines: string[] = []
  const failed: FailedSignIn[] = []
  const providers = [
    ...(options.configs ?? []).map((config) => createProvider(config, { now: Date.now })),
    ...(options.providers ?? []),
  ]
  const app = new Hono<AppEnv>().use(securityHeaders).route(
    '/_oauth2',
    oauth2Routes({
      limit: createSignInLimit(Date.now),
      recordFailed: async (one) => {
        failed.push(one)
      },
      countProviderError: () => {},
      findProvider: (name) => providers.find((each) => each.name === name),
      tests: createProviderTests({ store, record: async () => {}, now }),
      invitations: { find: async () => undefined, ended: invitationEnded },
      pending: createPendingSignIns(store, createVault(new Uint8Array(32)), now),
      beginSession:
        options.beginSession ??
        (async (_, signIn) => `session=${signedIn.push(signIn)}; Path=/; HttpOnly`),
      sessionPerson: async (c) =>
        /(?:^|; )session=\d/.test(c.req.header('Cookie') ?? '')
          ? { username: 'oauth2:1', role: 'viewer' }
          : undefined,
      clientOf: createClientOf(options.trusted ?? []),
      publicOrigin,
      fonts: undefined,
      log: pino({ level: 'trace' }, { write: (line) => lines.push(line) }),
    }),
  )
  app.onError((error, c) => renderFailure(toFailure(error), c))
  const listener: ListenerContext = {
    name: 'tcp://127.0.0.1:8529',
    address: { scheme: 'tcp' },
    mapping: { names: [], defaultDatabase: '_system' },
    draining: new AbortController().signal,
  }
  const request = (
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body?: string,
  ) =>
    app.request(
      path,
      { method, headers: { Host: 'localhost:8529', ...headers }, ...(body && { body }) },
      { listener },
    )

  return {
    request,
    clock,
    /** Identities signed in, in order. */
    signedIn,
    /** Failed sign-ins, in order. */
    failed,
    /** Lines of the log. */
    lines,
    /**
     * Starts a sign-in. Returns the response, the token in its cookie and the redirect's location.
     */
    async start(name: string, headers: Record<string, string> = {}, body?: string) {
      const response = await request('POST', `/_oauth2/${name}/auth`, headers, body)
      const setCookie = response.headers.get('Set-Cookie') ?? ''
      const token = new RegExp(`^${CSRF_COOKIE}=([^;]*)`).exec(setCookie)?.[1] ?? ''
      const location = response.headers.get('Location') ?? ''
      return {
        answer: response,
        setCookie,
        token,
        location,
        /** Parameters sent to the provider. */
        sent: location === '' ? new URLSearchParams() : new URL(location).searchParams,
      }
    },
    /**
     * Calls the callback. `cookie` is a Cookie header or the token of the CSRF cookie. Default: no
     * cookie.
     */
    async callback(name: string, query: Record<string, string> | string, cookie?: string) {
      const search = typeof query === 'string' ? query : `${new URLSearchParams(query)}`
      return request(
        'GET',
        `/_oauth2/${name}/auth?${search}`,
        cookie === undefined
          ? {}
          : { Cookie: cookie.includes('=') ? cookie : `${CSRF_COOKIE}=${cookie}` },
      )
    },
  }
}

/** Returns the configuration of a provider that a test has started, defined by its endpoints. */
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
  activeUserEndpoint: `${origin}/user`,
  ...over,
})

/** Starts a provider that runs until the test ends. */
export async function startProvider(): Promise<PlainProvider> {
  const provider = await startPlainProvider()
  onTestFinished(() => provider.close())
  return provider
}

/** Returns a provider `oauth2`, and a harness that is configured with it. */
export async function openSignIn(
  engine: TestEngine,
  over: Parameters<typeof plainConfig>[1] = {},
  options: Partial<SignInHarnessOptions> = {},
) {
  const provider = await startProvider()
  const configs = [plainConfig(provider.origin, over)]
  const harness = createSignInHarness({ store: await engine.open(), configs, ...options })
  return { provider, harness }
}

/** Returns the requests that a provider's token endpoint has received. */
export const tokenRequests = (provider: PlainProvider) =>
  provider.requests.filter(({ path }) => path === '/token')
