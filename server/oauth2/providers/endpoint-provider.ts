import { Failure } from '../failure.ts'
import { type ActiveUser, createOAuth2Client } from './client.ts'
import { isSubject, nameOf, tokensOf } from './identity.ts'
import type { Provider, ProviderDeps } from './provider.ts'
import type { ProviderConfig } from './provider-config.ts'
import { providerFailure } from './provider-failure.ts'

/** A provider known by its endpoints (seed 001): who it is, the active user endpoint tells. */
export function createEndpointProvider(
  config: Extract<ProviderConfig, { kind: 'endpoints' }>,
  { now }: ProviderDeps,
): Provider {
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
    async complete({ code, iss, exchangeUri, verifier }) {
      // Without discovery the issuer itself is not known; but no other server speaks for it.
      if (iss !== undefined && !(URL.canParse(iss) && origins.includes(new URL(iss).origin))) {
        throw new Failure('bad-parameter', `This answer does not come from ${label}.`)
      }
      try {
        const answer = await client.exchangeGrantToken(code, exchangeUri, {
          code_verifier: verifier,
        })
        const user = await client.fetchActiveUser(answer.access_token)
        return {
          provider: name,
          issuer: config.tokenEndpoint,
          subject: subjectOf(user, label),
          name: nameOf(user),
          tokens: tokensOf(answer, now()),
          operatorKey: null,
        }
      } catch (error) {
        throw providerFailure(label, error)
      }
    },
    async refresh(refreshToken) {
      try {
        return tokensOf(await client.refresh(refreshToken), now())
      } catch (error) {
        throw providerFailure(label, error)
      }
    },
  }
}

/** The id at the provider: `id` as a string (seed 001), else `sub`. */
function subjectOf(user: ActiveUser | null, label: string): string {
  for (const value of [user?.id, user?.sub]) {
    const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
    if (isSubject(text)) return text
  }
  throw new Failure(
    'unavailable',
    `${label} gave no id that can be used: it must have 1 to 255 printable ASCII characters.`,
  )
}
