import { ResponseBodyError, WWWAuthenticateChallengeError } from 'oauth4webapi'
import { Failure } from '../failure.ts'
import { OAuth2Error } from './client.ts'
import { createHide, toldError } from './told-error.ts'

/** The wording of others, fit for a page of ours: one line, at most 64 characters. */
export const cut = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ')
    .trim()
    .slice(0, 64)

/** Errors of a token endpoint that speak of this server's registration, not of the person's code. */
const REGISTRATION = /^(?:invalid_client|unauthorized_client|incorrect_client_credentials)$/

/**
 * What a failed exchange comes to: the provider's refusal of a code is the request's fault, whatever
 * else goes wrong between two servers is not.
 *
 * @param label of the provider, as people call it.
 * @param secrets what the provider was sent and may repeat.
 */
export function providerFailure(
  label: string,
  thrown: unknown,
  secrets: readonly string[] = [],
): Failure {
  if (thrown instanceof Failure) return thrown
  const hide = createHide(secrets)
  // Those of our own client hold no secret.
  const cause = thrown instanceof OAuth2Error ? thrown : toldError(thrown, hide)
  const { status, error: said } = reported(thrown)
  const error = said === undefined ? undefined : hide(said)
  const isChallenge = thrown instanceof WWWAuthenticateChallengeError && thrown.status === 401
  if (isChallenge || (error !== undefined && REGISTRATION.test(error))) {
    return new Failure(
      'unavailable',
      `${label} does not accept this server (${cut(error ?? 'status 401')}). Its operator has to check the client id and secret.`,
      { cause },
    )
  }
  if (status !== undefined && status < 500 && error !== undefined) {
    return new Failure('bad-parameter', `${label} did not accept this sign-in (${cut(error)}).`, {
      cause,
    })
  }
  return new Failure('unavailable', `${label} gave no answer that can be used.`, { cause })
}

/** What the provider said in the words of RFC 6749 §5.2, if it did. */
function reported(cause: unknown): { error?: string; status?: number | undefined } {
  if (cause instanceof ResponseBodyError) return cause
  if (!(cause instanceof OAuth2Error)) return {}
  if (cause.code === 'http-status') return { error: `status ${cause.status}`, status: cause.status }
  if (cause.code !== 'provider-error') return {}
  return { error: (cause.cause as { error: string }).error, status: cause.status }
}
