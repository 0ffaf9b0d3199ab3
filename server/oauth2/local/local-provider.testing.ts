import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Hono } from 'hono'
import { pino } from 'pino'
import { expect } from 'vitest'
import { invitationEnded } from '../../access/invitations.ts'
import type { SignIn } from '../../access/sessions.ts'
import type { AppEnv, ListenerContext } from '../../http/env.ts'
import { createClientOf } from '../../http/guards/client-address.ts'
import { nodeHandler } from '../../http/node-handler.ts'
import { renderFailure, toFailure } from '../../http/output/render-failure.ts'
import { securityHeaders } from '../../http/output/security-headers.ts'
import { hashSecret } from '../../secret.ts'
import { createFailureLimit } from '../../storage/changes/failure-limit.ts'
import type { Store } from '../../storage/store.ts'
import { createVault } from '../../storage/vault.ts'
import { oauth2Routes } from '../routes.ts'
import type { createBrowser } from '../sign-in/browser.testing.ts'
import { createPendingSignIns } from '../sign-in/pending-sign-in.ts'
import { createProviderTests } from '../sign-in/provider-tests.ts'
import { createSignInLimit } from '../sign-in/sign-in-limit.ts'
import { createLocalProvider } from './local-provider.ts'
import { localProviderRoutes } from './local-provider-routes.ts'

/** The operator key of each node. */
export const KEY = 'canary-operator-key-9c2e41'
const secretKey = new Uint8Array(32).fill(3)

interface NodeOptions {
  readonly publicOrigin?: string
  readonly trusted?: readonly string[]
  readonly clock?: { now: number }
}

const running: (() => Promise<void>)[] = []

/** Stops the nodes of a test. Call it before their stores are closed. */
export const stopNodes = async () => {
  for (const stop of running.splice(0)) await stop()
}

/** Starts a node with the local provider on its own port. The test fails if an error occurs. */
export async function startNode(store: Store, options: NodeOptions = {}) {
  const { publicOrigin, clock } = options
  const now = () => clock?.now ?? Date.now()
  const key = { now: KEY }
  const signedIn: SignIn[] = []
  const errors: unknown[] = []
  const clientOf = createClientOf(options.trusted ?? [])
  const vault = createVault(secretKey)
  const failures = createFailureLimit(store, now, (error) => errors.push(error))
  const local = createLocalProvider({
    store,
    vault,
    secretKey,
    operatorKey: () => key.now,
    fingerprint: hashSecret,
    publicOrigin,
    countFailure: failures.count,
    now,
    onError: (error) => errors.push(error),
  })
  const app = new Hono<AppEnv>()
    .use(securityHeaders)
    .route(
      '/_oauth2',
      oauth2Routes({
        countProviderError: () => {},
        limit: createSignInLimit(Date.now),
        recordFailed: async () => {},
        findProvider: (name) => (name === 'local' ? local.provider : undefined),
        tests: createProviderTests({ store, record: async () => {}, now }),
        invitations: { find: async () => undefined, ended: invitationEnded },
        pending: createPendingSignIns(store, vault, now),
        beginSession: async (_, signIn) => `session=${signedIn.push(signIn)}; Path=/`,
        sessionPerson: async () => undefined,
        clientOf,
        publicOrigin,
        fonts: undefined,
        log: pino({ level: 'silent' }),
      }),
    )
    .route(
      '/_idp',
      localProviderRoutes({
        local,
        limit: createSignInLimit(Date.now),
        recordFailed: async () => {},
        clientOf,
        publicOrigin,
      }),
    )
  app.onError((error, c) => {
    const failure = toFailure(error)
    if (failure.kind.status >= 500) errors.push(failure.cause)
    return renderFailure(failure, c)
  })
  app.get('/', (c) => c.text('the root'))
  const listener: ListenerContext = {
    name: 'tcp://127.0.0.1:0',
    address: { scheme: 'tcp' },
    mapping: { names: [], defaultDatabase: '_system' },
    draining: new AbortController().signal,
  }
  const server: Server = createServer(nodeHandler(app.fetch, () => listener))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  running.push(async () => {
    server.closeAllConnections()
    server.close()
    await failures.stop()
    expect(errors).toEqual([])
  })
  const { port } = server.address() as AddressInfo
  return { origin: `http://127.0.0.1:${port}`, port, signedIn, key, errors, failures }
}

/** Returns the URL that starts a sign-in. */
export const start = (origin: string) => `${origin}/_oauth2/local/auth`

/** Signs in up to the redirect to the callback, and returns that redirect. */
export async function signInUpToCallback(
  browser: ReturnType<typeof createBrowser>,
  origin: string,
) {
  const page = await browser.post(start(origin), {})
  return browser.post(page.url, { key: KEY }, (url) => url.pathname.startsWith('/_oauth2'))
}
