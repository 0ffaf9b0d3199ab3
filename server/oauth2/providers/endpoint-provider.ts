import { Failure } from '../../failure.ts'
import { type ActiveUser, createOAuth2Client } from '../client.ts'
import { isSubject, nameOf } from './identity.ts'
import type { Provider } from './provider.ts'
import type { ProviderConfig } from './provider-config.ts'
import { type ProviderRequest, providerFailure, withoutQuery } from './provider-failure.ts'

type EndpointConfig = Extract<ProviderConfig, { kind: 'endpoints' }>

/** Creates a provider from its endpoints. The active user endpoint identifies the person. */
export function createEndpointProvider(config: EndpointConfig): Provider {
  const { name, label, form } = config
  const client = createOAuth2Client(config)
  const origins = [config.authEndpoint, config.tokenEndpoint].map((url) => new URL(url).origin)
  return {
    name,
    label,
    form,
    async authorize({ redirectUri, state, challenge }) {
      return client.getAuthUrl(redirectUri, {
        state,
        code_challenge: challenge,
        code_challenge_method: 'S256',
      })
    },
    async complete({ code, iss, exchangeUri, verifier, trace = () => {} }) {
      // Without discovery the issuer is unknown. Accept `iss` only if its origin is that of
      // the authorization or the token endpoint.
      if (iss !== undefined && !(URL.canParse(iss) && origins.includes(new URL(iss).origin))) {
        throw new Failure('bad-parameter', `This response does not come from ${label}.`, {
          field: 'iss',
        })
      }
      const request: ProviderRequest = { url: config.tokenEndpoint }
      try {
        const token = await client.exchangeGrantToken(code, exchangeUri, {
          code_verifier: verifier,
        })
        trace(`POST ${withoutQuery(config.tokenEndpoint)}: accepted`)
        request.url = config.activeUserEndpoint
        const user = await client.fetchActiveUser(token.access_token)
        trace(`GET ${withoutQuery(config.activeUserEndpoint)}: accepted`)
        return {
          provider: name,
          issuer: config.tokenEndpoint,
          subject: subjectOf(user, config),
          name: nameOf(user),
          accessToken: token.access_token,
          operatorKey: null,
        }
      } catch (error) {
        throw providerFailure(config, error, request, exchangeUri)
      }
    },
  }
}

/**
 * Returns the person's id at the provider: `id` as a string, or else `sub` (docs/sign-in.md,
 * "Providers").
 *
 * @throws Failure `unavailable` if neither is valid.
 */
function subjectOf(
  user: ActiveUser | null,
  { label, activeUserEndpoint }: Pick<EndpointConfig, 'label' | 'activeUserEndpoint'>,
): string {
  for (const value of [user?.id, user?.sub]) {
    const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
    if (isSubject(text)) return text
  }
  throw new Failure(
    'unavailable',
    `${label} returned no valid id from ${withoutQuery(activeUserEndpoint)}. It must have 1 to 255 printable ASCII characters.`,
  )
}
