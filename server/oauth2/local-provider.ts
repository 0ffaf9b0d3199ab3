import { createHash, timingSafeEqual } from 'node:crypto'
import { IncomingMessage, type RequestListener, ServerResponse } from 'node:http'
import { Socket } from 'node:net'

import { isLoopbackHost } from '../contract/address.ts'
import { Failure } from '../failure.ts'
import { countFailure } from '../storage/failure-limit.ts'
import type { Store } from '../storage/open.ts'
import type { Vault } from '../storage/vault.ts'
import { SIGN_IN_SECONDS } from './csrf-token.ts'
import { inProcessFetch } from './in-process-fetch.ts'
import { createIssuerProvider } from './issuer-provider.ts'
import { createLocalProviderStore } from './local-provider-adapter.ts'
import { deriveKeys } from './local-provider-keys.ts'
import { errors, interactionPolicy, Provider as OidcProvider } from './oidc-provider.ts'
import type { Provider } from './provider.ts'
import { cut } from './provider-failure.ts'
import { callbackPath } from './sign-in.ts'

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

/** Fixed, because nobody else reads its tokens: the server by whatever name it is reached. */
const ISSUER = 'https://gatehouse.localhost/_idp'

/** Who signs in here, as people know it (design, "People"). */
const OPERATOR = { provider: 'local', issuer: 'gatehouse', subject: 'operator', name: 'Operator' }

const CLIENT_ID = 'gatehouse'

/**
 * Makes the local provider: `oidc-provider` with one client, this server, which asks it in process.
 * It keeps no login: each sign-in asks for the key, and takes along what it has left in the store.
 */
export function createLocalProvider(deps: LocalProviderDeps): LocalProvider {
  const { publicOrigin, now } = deps
  const keys = deriveKeys(deps.secretKey)
  const kept = createLocalProviderStore(deps.store, deps.vault, now)

  const policy = interactionPolicy.base()
  const { Check } = interactionPolicy
  // Also where the request does not say prompt=login: a second one must not pass without the key.
  policy
    .get('login')
    ?.checks.add(
      new Check('always', 'the key is asked for each time', ({ oidc }) =>
        oidc.result?.login === undefined ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT,
      ),
    )

  const oidc = new OidcProvider(ISSUER, {
    adapter: kept.adapter,
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: keys.clientSecret,
        redirect_uris: [new URL(callbackPath(OPERATOR.provider), ISSUER).href],
        grant_types: ['authorization_code'],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_basic',
        id_token_signed_response_alg: 'EdDSA',
        scope: 'openid',
      },
    ],
    jwks: { keys: [keys.signing] },
    cookies: {
      keys: [keys.cookies],
      names: {
        session: 'gatehouse_idp',
        interaction: 'gatehouse_idp_key',
        resume: 'gatehouse_idp_resume',
      },
      long: { httpOnly: true, sameSite: 'lax', path: '/_idp' },
      short: { httpOnly: true, sameSite: 'lax' },
    },
    claims: { openid: ['sub', 'amr'] },
    scopes: ['openid'],
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
    },
    pkce: { required: () => true },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    interactions: { policy, url: (_, { uid }) => `/_idp/key/${uid}` },
    // There is nothing to consent to: server and provider are one.
    async loadExistingGrant({ oidc: { client, session, provider } }) {
      const grant = new provider.Grant({
        accountId: session?.accountId ?? '',
        clientId: client?.clientId ?? '',
      })
      grant.addOIDCScope('openid')
      await grant.save()
      return grant
    },
    renderError(ctx, out) {
      ctx.body = out
    },
    ttl: {
      AccessToken: SIGN_IN_SECONDS,
      AuthorizationCode: 60,
      Grant: SIGN_IN_SECONDS,
      IdToken: SIGN_IN_SECONDS,
      Interaction: SIGN_IN_SECONDS,
      Session: SIGN_IN_SECONDS,
    },
  })
  // Requests come from this process alone, which says what the browser's connection is like.
  oidc.proxy = true
  oidc.on('server_error', (_, error) => deps.onError(error))
  oidc.Client.prototype.redirectUriAllowed = (uri: string) => isOwnCallback(uri, publicOrigin)

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
        await countFailure(deps.store, `operator-key/${key.address ?? 'unix'}`, now())
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

/** Whether it is the callback of this server, by the public URL or on this machine, at any port. */
function isOwnCallback(uri: string, publicOrigin: string | undefined): boolean {
  if (!URL.canParse(uri)) return false
  const { origin, hostname, href } = new URL(uri)
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const ours = origin === publicOrigin || isLoopbackHost(host)
  return ours && href === origin + callbackPath(OPERATOR.provider) && href === uri
}
