import { type AdapterFactory, interactionPolicy, Provider } from 'oidc-provider'
import { OPERATOR } from '../../contract/access/principal.ts'
import { isLoopbackHost } from '../../contract/endpoints/address.ts'
import { invariant } from '../../contract/invariant.ts'
import { SIGN_IN_SECONDS } from '../sign-in/pending-sign-in.ts'
import { callbackPath } from '../sign-in/sign-in.ts'
import type { LocalProviderKeys } from './local-provider-keys.ts'

/**
 * Issuer of the local provider. Fixed, because only this server reads its tokens, and the server
 * may be reached under several names.
 */
export const ISSUER = 'https://gatehouse.localhost/_idp'

/** The only client of the local provider: this server. */
export const CLIENT_ID = 'gatehouse'

/**
 * Creates the `oidc-provider` behind the local provider. This server is its only client, and
 * optional features are disabled.
 */
export function createLocalIssuer(
  keys: LocalProviderKeys,
  adapter: AdapterFactory,
  publicOrigin: string | undefined,
): Provider {
  const policy = interactionPolicy.base()
  const { Check } = interactionPolicy
  // Applies also to requests without `prompt=login`: each sign-in requires the key.
  policy
    .get('login')
    ?.checks.add(
      new Check('always', 'the operator key is required at each sign-in', ({ oidc }) =>
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
    // No consent step: the client and the provider are the same server.
    async loadExistingGrant({ oidc: { client, session, provider } }) {
      invariant(session?.accountId, 'a grant is loaded after the key was entered')
      invariant(client, 'a grant is loaded for a client')
      const grant = new provider.Grant({
        accountId: session.accountId,
        clientId: client.clientId,
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
  // Trust X-Forwarded-Proto: only this process sends requests, and it sets the header to the
  // protocol of the browser's connection.
  oidc.proxy = true
  oidc.Client.prototype.redirectUriAllowed = (uri: string) => isOwnCallback(uri, publicOrigin)
  return oidc
}

/**
 * Whether a URI is this server's callback, on the public origin or on a loopback address with any
 * port.
 */
function isOwnCallback(uri: string, publicOrigin: string | undefined): boolean {
  if (!URL.canParse(uri)) return false
  const { origin, hostname, href } = new URL(uri)
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const isOwnOrigin = origin === publicOrigin || isLoopbackHost(host)
  return isOwnOrigin && href === origin + callbackPath(OPERATOR.provider) && href === uri
}
