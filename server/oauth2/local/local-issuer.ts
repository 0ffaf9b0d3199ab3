import type { AdapterFactory, Provider as OidcProvider } from 'oidc-provider'
import { isLoopbackHost } from '../contract/address.ts'
import { SIGN_IN_SECONDS } from './csrf-token.ts'
import type { LocalProviderKeys } from './local-provider-keys.ts'
import { interactionPolicy, Provider } from './oidc-provider.ts'
import { callbackPath } from './sign-in.ts'

/** Fixed, because nobody else reads its tokens: the server by whatever name it is reached. */
export const ISSUER = 'https://gatehouse.localhost/_idp'

/** Who signs in here, as people know it (design, "People"). */
export const OPERATOR = {
  provider: 'local',
  issuer: 'gatehouse',
  subject: 'operator',
  name: 'Operator',
}

/** The one client of the local provider: this server. */
export const CLIENT_ID = 'gatehouse'

/**
 * Makes the `oidc-provider` of the local provider, with this server as its one client. Everything of
 * it that can be off is off.
 */
export function createLocalIssuer(
  keys: LocalProviderKeys,
  adapter: AdapterFactory,
  publicOrigin: string | undefined,
): OidcProvider {
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

  const oidc = new Provider(ISSUER, {
    adapter,
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
  oidc.Client.prototype.redirectUriAllowed = (uri: string) => isOwnCallback(uri, publicOrigin)
  return oidc
}

/** Whether it is the callback of this server, by the public URL or on this machine, at any port. */
function isOwnCallback(uri: string, publicOrigin: string | undefined): boolean {
  if (!URL.canParse(uri)) return false
  const { origin, hostname, href } = new URL(uri)
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const ours = origin === publicOrigin || isLoopbackHost(host)
  return ours && href === origin + callbackPath(OPERATOR.provider) && href === uri
}
