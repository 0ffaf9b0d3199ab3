import { createHash, timingSafeEqual } from 'node:crypto'
import {
  createServer,
  IncomingMessage,
  type RequestListener,
  request,
  ServerResponse,
} from 'node:http'
import { Socket } from 'node:net'
import { duplexPair } from 'node:stream'
import { errors } from 'oidc-provider'
import { LOCAL_PROVIDER_LABEL, OPERATOR } from '../../contract/access/principal.ts'
import { invariant } from '../../contract/invariant.ts'
import { Failure } from '../../failure.ts'
import { failureKey } from '../../storage/changes/failure-limit.ts'
import type { Store } from '../../storage/store.ts'
import type { Vault } from '../../storage/vault.ts'
import { createIssuerProvider } from '../providers/issuer-provider.ts'
import type { Provider } from '../providers/provider.ts'
import { truncate } from '../providers/provider-failure.ts'
import { CLIENT_ID, createLocalIssuer, ISSUER } from './local-issuer.ts'
import { createLocalProviderStore } from './local-provider-adapter.ts'
import { deriveKeys } from './local-provider-keys.ts'

export interface LocalProviderDeps {
  readonly store: Store
  readonly vault: Vault
  /** 32 bytes, the same on all nodes. The provider derives its keys from it. */
  readonly secretKey: Uint8Array
  /** Returns the current operator key. */
  readonly operatorKey: () => string
  /** Returns the fingerprint of an operator key, which its sessions store. */
  readonly fingerprint: (key: string) => string
  readonly publicOrigin: string | undefined
  /** Counts a failed attempt. See `storage/changes/failure-limit.ts`. */
  readonly countFailure: (key: string) => void
  /** Returns the time, ms since 1970. */
  readonly now: () => number
  /** Called with internal errors of `oidc-provider`. */
  readonly onError: (error: unknown) => void
}

/** A browser's request for a page of the provider. */
export interface PageRequest {
  /** With the query, without the prefix `/_idp`. */
  readonly path: string
  readonly cookie: string | undefined
  /** Whether the browser's connection is encrypted. */
  readonly secure: boolean
}

/** A redirect of the browser. */
export interface PageResponse {
  readonly location: string
  /** Values of Set-Cookie headers. */
  readonly cookies: readonly string[]
}

/** A key that a person has entered. */
export interface SubmittedKey {
  readonly text: string
  /** Address by which failures are counted; null for a Unix socket. */
  readonly address: string | null
}

/** The built-in provider, which authenticates people by the operator key. */
export interface LocalProvider {
  readonly provider: Provider
  /**
   * Handles a browser's request to the authorization endpoint.
   *
   * @throws Failure `bad-parameter` if the request is invalid or its sign-in has expired.
   */
  page(request: PageRequest): Promise<PageResponse>
  /**
   * Checks the key entered on the key page. Returns the path to redirect to.
   *
   * @param key undefined: only checks that the key page may be shown.
   * @throws Failure `bad-parameter` if no sign-in awaits a key; `forbidden` for a wrong key;
   *   `too-many-requests` for a wrong key after too many failures. The right key is always
   *   accepted.
   */
  submitKey(uid: string, cookie: string | undefined, key?: SubmittedKey): Promise<string>
}

/**
 * Creates the local provider: an `oidc-provider` that this server, its only client, calls within
 * the process. Each sign-in asks for the key, and deletes its state from the store when it
 * completes.
 */
export function createLocalProvider(deps: LocalProviderDeps): LocalProvider {
  const { publicOrigin, now } = deps
  const keys = deriveKeys(deps.secretKey)
  const store = createLocalProviderStore(deps.store, deps.vault, now)

  const oidc = createLocalIssuer(keys, store.adapter, publicOrigin)
  oidc.on('server_error', (_, error) => deps.onError(error))
  const handle = oidc.callback()
  const mounted: RequestListener = (request, response) => {
    const { url = '/' } = request
    // `oidc-provider` derives its mount path from the difference between the two URLs.
    Object.assign(request, { originalUrl: url, url: url.replace(/^\/_idp/, '') })
    void handle(request, response)
  }
  const inProcess = inProcessFetch(mounted)
  const sendRequest = (url: string, init: RequestInit, secure: boolean) => {
    const headers = new Headers(init.headers)
    headers.set('X-Forwarded-Proto', secure ? 'https' : 'http')
    return inProcess(url, { ...init, headers })
  }

  const provider = createIssuerProvider(
    {
      name: OPERATOR.provider,
      label: LOCAL_PROVIDER_LABEL,
      form: 'exact',
      issuer: ISSUER,
      clientId: CLIENT_ID,
      clientSecret: keys.clientSecret,
    },
    { now },
    {
      fetch: (url, init) => sendRequest(url, init, true),
      authEndpoint: (origin) => `${origin}/_idp/auth`,
      parameters: { scope: 'openid', prompt: 'login' },
      identify: ({ sub, amr }) => ({
        provider: OPERATOR.provider,
        issuer: OPERATOR.issuer,
        subject: sub,
        name: 'Operator',
        operatorKey: Array.isArray(amr) ? String(amr[0]) : null,
      }),
    },
  )

  return {
    provider: {
      ...provider,
      async complete(response) {
        const signIn = await provider.complete(response)
        await store.end(signIn.accessToken)
        return signIn
      },
    },

    async page({ path, cookie, secure }) {
      const headers = { Accept: 'text/html', ...(cookie !== undefined && { cookie }) }
      const response = await sendRequest(`${ISSUER}${path}`, { headers }, secure)
      const location = response.headers.get('Location')
      if (location !== null) return { location, cookies: response.headers.getSetCookie() }
      // Status 200 is a page for a `response_mode` that this server does not request.
      const { error, error_description = error }: Record<string, string> =
        response.status < 400 ? { error: 'unexpected request' } : await response.json()
      const code = response.status < 500 ? 'bad-parameter' : 'internal'
      throw new Failure(code, `The sign-in failed: ${truncate(error_description ?? 'an error')}.`)
    },

    async submitKey(uid, cookie, key) {
      // `oidc-provider` reads only the cookies of the request.
      const request = new IncomingMessage(new Socket())
      if (cookie !== undefined) request.headers.cookie = cookie
      const response = new ServerResponse(request)
      const interaction = await oidc
        .interactionDetails(request, response)
        .catch((cause: unknown) => {
          if (cause instanceof errors.SessionNotFound) return undefined
          throw cause
        })
      if (interaction?.uid !== uid || interaction.prompt.name !== 'login') {
        throw new Failure(
          'bad-parameter',
          'This sign-in has expired or was started in another browser.',
        )
      }
      if (key === undefined) return new URL(interaction.returnTo).pathname
      const right = deps.operatorKey()
      if (!sameText(key.text.trim(), right)) {
        deps.countFailure(failureKey('operator-key', key.address))
        throw new Failure('forbidden', 'The operator key is incorrect.')
      }
      const login = { accountId: OPERATOR.subject, amr: [deps.fingerprint(right)], remember: false }
      return new URL(await oidc.interactionResult(request, response, { login })).pathname
    },
  }
}

/** Compares two texts in a time that reveals neither where they differ nor their lengths. */
function sameText(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}

/**
 * Maximum size of the headers of a request or response, bytes: four times the limit of a listener.
 * Percent-encoding can triple the size of a URL, and headers are added.
 */
const MAX_HEADERS = 64 * 1024

/**
 * Returns a `fetch` that passes requests to a listener in this process, without a socket and
 * regardless of their URL. Requests to the public URL would have to return through TLS and NAT,
 * which may not work.
 */
export function inProcessFetch(
  listener: RequestListener,
): (url: string, init: RequestInit) => Promise<Response> {
  // The server never listens; connections are passed to it directly.
  const server = createServer({ maxHeaderSize: MAX_HEADERS }, listener)
  return (url, { method = 'GET', headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const { host, pathname, search } = new URL(url)
      const [near, far] = duplexPair()
      server.emit('connection', far)
      const sent = request({
        createConnection: () => near,
        maxHeaderSize: MAX_HEADERS,
        method,
        path: pathname + search,
        headers: { ...Object.fromEntries(new Headers(headers)), host, connection: 'close' },
        ...(signal && { signal }),
      })
      sent.on('error', reject)
      sent.on('response', async (answer) => {
        try {
          const { statusCode: status } = answer
          invariant(status, 'a response has a status')
          const parts: Buffer[] = []
          for await (const part of answer) parts.push(part)
          resolve(
            new Response(parts.length === 0 ? null : Buffer.concat(parts), {
              status,
              headers: Object.entries(answer.headersDistinct).flatMap(([name, values = []]) =>
                values.map((value): [string, string] => [name, value]),
              ),
            }),
          )
        } catch (error) {
          reject(error)
        }
      })
      sent.end(body === undefined || body === null ? undefined : String(body))
    })
}
