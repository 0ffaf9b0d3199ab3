import { ResponseBodyError, WWWAuthenticateChallengeError } from 'oauth4webapi'
import { Failure } from '../../failure.ts'
import { OAuth2Error } from '../client.ts'
import { createRedactor, redactError } from '../sign-in/redact-error.ts'

/** Makes a provider's text safe to show: one line, at most 64 characters. */
export const truncate = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ')
    .trim()
    .slice(0, 64)

/** Token endpoint errors that concern this server's registration, not the person's code. */
const REGISTRATION = /^(?:invalid_client|unauthorized_client|incorrect_client_credentials)$/

/**
 * Converts an error of an exchange. If the provider rejected the code, the request is invalid
 * (`bad-parameter`); all other errors are errors between the two servers (`unavailable`).
 *
 * @param label the provider's name, as shown to people.
 * @param secrets values sent to the provider, which it may repeat.
 */
export function providerFailure(
  label: string,
  thrown: unknown,
  secrets: readonly string[] = [],
): Failure {
  if (thrown instanceof Failure) return thrown
  const hide = createRedactor(secrets)
  // Errors of Gatehouse's own client contain no secrets.
  const cause = thrown instanceof OAuth2Error ? thrown : redactError(thrown, hide)
  const { status, error: reportedError } = reported(thrown)
  const error = reportedError === undefined ? undefined : hide(reportedError)
  const isChallenge = thrown instanceof WWWAuthenticateChallengeError && thrown.status === 401
  if (isChallenge || (error !== undefined && REGISTRATION.test(error))) {
    return new Failure(
      'unavailable',
      `${label} rejected the credentials of this server (${truncate(error ?? 'status 401')}). The operator of this server must check the client id and secret.`,
      { cause },
    )
  }
  if (status !== undefined && status < 500 && error !== undefined) {
    return new Failure('bad-parameter', `${label} rejected this sign-in (${truncate(error)}).`, {
      cause,
    })
  }
  return new Failure('unavailable', `${label} returned an invalid response.`, { cause })
}

/** Returns the error that the provider reported in the form of RFC 6749 §5.2, if any. */
function reported(cause: unknown): { error?: string; status?: number | undefined } {
  if (cause instanceof ResponseBodyError) return cause
  if (!(cause instanceof OAuth2Error)) return {}
  if (cause.code === 'http-status') return { error: `status ${cause.status}`, status: cause.status }
  if (cause.code !== 'provider-error') return {}
  return { error: (cause.cause as { error: string }).error, status: cause.status }
}
