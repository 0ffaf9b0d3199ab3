import { createHash, timingSafeEqual } from 'node:crypto'
import { IncomingMessage, type RequestListener, ServerResponse } from 'node:http'
import { Socket } from 'node:net'

import { Failure } from '../failure.ts'
import { failureKey } from '../storage/failure-limit.ts'
import type { Store } from '../storage/open.ts'
import type { Vault } from '../storage/vault.ts'
import { inProcessFetch } from './in-process-fetch.ts'
import { createIssuerProvider } from './issuer-provider.ts'
import { CLIENT_ID, createLocalIssuer, ISSUER, OPERATOR } from './local-issuer.ts'
import { createLocalProviderStore } from './local-provider-adapter.ts'
import { deriveKeys } from './local-provider-keys.ts'
import { errors } from './oidc-provider.ts'
import type { Provider } from './provider.ts'
import { cut } from './provider-failure.ts'

/** What the local provider is made of. */
export interface LocalProviderDeps {
  readonly store: Store
  readonly vault: Vault
  /** 32 bytes, the same for all nodes: its own keys are derived from it. */
  readonly secretKey: Uint8Array
  /** The operator key as it is now. */
  readonly operatorKey: () => string
  /** What a session remembers of an operator key. */
  readonly fingerprint: (key: string) => string
  readonly publicOrigin: string | undefined
  /** Counts a failed attempt; see `storage/failure-limit.ts`. */
  readonly countFailure: (key: string) => void
  /** Tells ms since 1970. */
  readonly now: () => number
  /** Told what went wrong inside. */
  readonly onError: (error: unknown) => void
}

/** A page of the provider that a browser asks for. */
export interface PageRequest {
  /** With the query, and without the prefix `/_idp`. */
  readonly path: string
  readonly cookie: string | undefined
  /** Whether the browser's own connection is encrypted. */
  readonly secure: boolean
}

/** Where a browser goes on. */
export interface PageAnswer {
  readonly location: string
  /** Values of Set-Cookie headers. */
  readonly cookies: readonly string[]
}

/** A key that somebody has given. */
export interface GivenKey {
  readonly text: string
  /** Where it comes from; failures are counted by it. */
  readonly address: string | null
}

/** The built-in provider, which asks for the operator key. */
export interface LocalProvider {
  /** As one of those that people sign in with. */
  readonly provider: Provider
  /**
   * Answers a browser that passes at the authorization endpoint.
   *
   * @throws Failure `bad-parameter` where the request cannot be understood, or no longer.
   */
  page(request: PageRequest): Promise<PageAnswer>
  /**
   * The path to go on at, once the right key was given on the key page.
   *
   * @param key undefined: the page is only to be shown.
   * @throws Failure `bad-parameter` where no key is being asked for, `forbidden` where the key is
   * wrong, `too-many-requests` where it is wrong once more than enough. The right one always counts.
   */
  giveKey(uid: string, cookie: string | undefined, key?: GivenKey): Promise<string>
}

/**
 * Makes the local provider: `oidc-provider` with one client, this server, which asks it in process.
 * It keeps no login: each sign-in asks for the key, and takes along what it has left in the store.
 */
export function createLocalProvider(deps: LocalProviderDeps): LocalProvider {
  const { publicOrigin, now } = deps
  const keys = deriveKeys(deps.secretKey)
  const kept = createLocalProviderStore(deps.store, deps.vault, now)

  const oidc = createLocalIssuer(keys, kept.adapter, publicOrigin)
  oidc.on('server_error', (_, error) => deps.onError(error))
  const answer = oidc.callback()
  const mounted: RequestListener = (request, response) => {
    const { url = '/' } = request
    // The provider finds out its prefix by comparing the two.
    Object.assign(request, { originalUrl: url, url: url.replace(/^\/_idp/, '') })
    void answer(request, response)
  }
  const inProcess = inProcessFetch(mounted)
  const ask = (url: string, init: RequestInit, secure: boolean) => {
    const headers = new Headers(init.headers)
    headers.set('X-Forwarded-Proto', secure ? 'https' : 'http')
    return inProcess(url, { ...init, headers })
  }

  const provider = createIssuerProvider(
    {
      name: OPERATOR.provider,
      label: 'Operator key',
      form: 'exact',
      issuer: ISSUER,
      clientId: CLIENT_ID,
      clientSecret: keys.clientSecret,
    },
    { now },
    {
      fetch: (url, init) => ask(url, init, true),
      authEndpoint: (origin) => `${origin}/_idp/auth`,
      parameters: { scope: 'openid', prompt: 'login' },
      identify: ({ sub, amr }) => ({
        ...OPERATOR,
        subject: sub,
        operatorKey: Array.isArray(amr) ? String(amr[0]) : null,
      }),
    },
  )

  return {
    provider: {
      ...provider,
      async complete(response) {
        const identity = await provider.complete(response)
        await kept.end(identity.tokens.access)
        return identity
      },
    },

    async page({ path, cookie, secure }) {
      const headers = { Accept: 'text/html', ...(cookie !== undefined && { cookie }) }
      const response = await ask(`${ISSUER}${path}`, { headers }, secure)
      const location = response.headers.get('Location')
      if (location !== null) return { location, cookies: response.headers.getSetCookie() }
      // A page, with status 200, is for a response_mode that we never ask for.
      const { error, error_description = error }: Record<string, string> =
        response.status < 400 ? { error: 'unexpected request' } : await response.json()
      const code = response.status < 500 ? 'bad-parameter' : 'internal'
      throw new Failure(code, `The sign-in cannot go on: ${cut(error_description ?? 'an error')}.`)
    },

    async giveKey(uid, cookie, key) {
      // Of a request, the provider wants the cookies alone.
      const request = new IncomingMessage(new Socket())
      if (cookie !== undefined) request.headers.cookie = cookie
      const response = new ServerResponse(request)
      const asked = await oidc.interactionDetails(request, response).catch((cause: unknown) => {
        if (cause instanceof errors.SessionNotFound) return undefined
        throw cause
      })
      if (asked?.uid !== uid || asked.prompt.name !== 'login') {
        throw new Failure('bad-parameter', 'This sign-in took too long, or was begun elsewhere.')
      }
      if (key === undefined) return new URL(asked.returnTo).pathname
      const right = deps.operatorKey()
      if (!sameText(key.text.trim(), right)) {
        deps.countFailure(failureKey('operator-key', key.address))
        throw new Failure('forbidden', 'That is not the operator key.')
      }
      const login = { accountId: OPERATOR.subject, amr: [deps.fingerprint(right)], remember: false }
      return new URL(await oidc.interactionResult(request, response, { login })).pathname
    },
  }
}

/** Compares in a time that tells nothing of where two texts differ, nor of their lengths. */
function sameText(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
