import { generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ClientMetadata, type Configuration, Provider } from 'oidc-provider'

/** An external OpenID provider on loopback. */
export interface TestProvider {
  readonly issuer: string
  readonly authEndpoint: string
  readonly tokenEndpoint: string
  readonly activeUserEndpoint: string
  /** Paths of the requests received, in order. */
  readonly requests: readonly string[]
  /**
   * Follows redirects from `url` as a browser does, with cookies, through login and consent.
   *
   * @returns the first URL outside the provider: the callback with its query
   * @throws if the provider responds with a page instead of a redirect
   */
  authorize(url: string): Promise<URL>
  close(): void
}

/**
 * Starts `oidc-provider` on a free port. It requires PKCE, signs everyone in as `accountId` and
 * grants all requested scopes. The user endpoint returns `sub` and `id`.
 */
export async function startTestProvider(
  clients: ClientMetadata[],
  {
    accountId = 'ada',
    groups,
  }: {
    readonly accountId?: string
    /** Groups of everyone, for the scope `groups`. */
    readonly groups?: { readonly names: readonly string[]; readonly inIdToken: boolean }
  } = {},
): Promise<TestProvider> {
  let handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(new URL(request.url ?? '/', 'http://localhost').pathname)
    handle(request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const configuration: Configuration = {
    clients,
    pkce: { required: () => true },
    cookies: { keys: ['only for tests'] },
    claims: { openid: ['sub', 'id'], ...(groups && { groups: ['groups'] }) },
    conformIdTokenClaims: groups?.inIdToken !== true,
    features: { devInteractions: { enabled: false } },
    findAccount: (_, sub) => ({
      accountId: sub,
      claims: () => ({ sub, id: `id-of-${sub}`, groups: groups?.names }),
    }),
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    issueRefreshToken: (_, client) => client.grantTypeAllowed('refresh_token'),
    // The defaults print warnings to the console.
    ttl: {
      AccessToken: 600,
      Grant: 600,
      IdToken: 600,
      Interaction: 600,
      RefreshToken: 600,
      Session: 600,
    },
    jwks: { keys: [signingKey()] },
  }
  const provider = new Provider(issuer, configuration)
  const answer = provider.callback()

  handle = async (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return answer(request, response)
    const { prompt, params, session } = await provider.interactionDetails(request, response)
    if (prompt.name === 'login') {
      return provider.interactionFinished(request, response, { login: { accountId } })
    }
    const clientId = String(params.client_id)
    const grant = new provider.Grant({ accountId: session?.accountId ?? accountId, clientId })
    grant.addOIDCScope(String(params.scope))
    return provider.interactionFinished(request, response, {
      consent: { grantId: await grant.save() },
    })
  }

  return {
    issuer,
    authEndpoint: `${issuer}/auth`,
    tokenEndpoint: `${issuer}/token`,
    activeUserEndpoint: `${issuer}/me`,
    requests,
    authorize: (url) => follow(issuer, url),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

const signingKey = () => ({
  ...generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }),
  use: 'sig',
})

async function follow(issuer: string, start: string): Promise<URL> {
  const cookies = new Map<string, string>()
  let url = new URL(start)
  while (url.origin === issuer) {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
    const response = await fetch(url, { headers: { cookie }, redirect: 'manual' })
    const location = response.headers.get('location')
    if (location === null) {
      throw new Error(`${url.pathname} answered ${response.status}: ${await response.text()}`)
    }
    await response.body?.cancel()
    for (const set of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (set.split(';')[0] ?? '').split('=', 2)
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    url = new URL(location, url)
  }
  return url
}
