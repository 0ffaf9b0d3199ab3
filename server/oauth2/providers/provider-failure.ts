import { ResponseBodyError, WWWAuthenticateChallengeError } from 'oauth4webapi'
import { Failure, systemCode } from '../../failure.ts'
import { OAuth2Error, type ProviderReport } from '../client.ts'
import type { Provider } from './provider.ts'

/** Makes a provider's text safe to show: one line, at most 64 characters by default. */
export const truncate = (text: string, length = 64): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ')
    .trim()
    .slice(0, length)

/** Returns a URL without its query, which may hold secrets. */
export function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}

/** Maximum length of a provider's description of an error, characters. */
const MAX_DESCRIPTION = 200

/** Returns an error that a provider reported (RFC 6749 §5.2), with its description, to be shown. */
export const printReport = (error: string, description: string | undefined): string =>
  [truncate(error), truncate(description ?? '', MAX_DESCRIPTION)]
    .filter((part) => part !== '')
    .join(': ')

/** Token endpoint errors that concern this server's registration, not the person's code. */
const REGISTRATION = /^(?:invalid_client|unauthorized_client|incorrect_client_credentials)$/

/**
 * Returns what the operator can do if a provider rejected the redirect URI; otherwise an empty text.
 *
 * @param callback the URL or path of the callback.
 */
export function redirectAdvice(
  { name, label, form }: Pick<Provider, 'name' | 'label' | 'form'>,
  error: string,
  description: string | undefined,
  callback: string,
): string {
  const isRedirect = /redirect[ _-]?ur[il]/i.test(`${error} ${description ?? ''}`)
  // In this form, the redirect URIs of the two requests differ, and `invalid_grant` is the error of
  // providers that compare them (RFC 6749 §5.2).
  const isCompared = form === 'csrf-in-url' && error === 'invalid_grant'
  if (!isRedirect && !isCompared) return ''
  const setting = `, and GATEHOUSE_OAUTH2_CALLBACK (${form}) must be a form that ${label} accepts, such as exact`
  return ` ${isRedirect ? 'The' : 'If this persists, the'} callback URL ${callback} must be registered with ${label}${name === 'oauth2' ? setting : ''}.`
}

/** A request to a provider. */
export interface ProviderRequest {
  url: string
  /** Status of the response, if there was one. */
  status?: number | undefined
}

/**
 * Converts an error of an exchange. If the provider rejected the code, the request is invalid
 * (`bad-parameter`); all other errors are errors between the two servers (`unavailable`).
 *
 * @param request the request that failed.
 * @param callback the redirect URI that was sent.
 * @param secrets values sent to the provider, which it may repeat.
 */
export function providerFailure(
  provider: Pick<Provider, 'name' | 'label' | 'form'>,
  thrown: unknown,
  request: ProviderRequest,
  callback: string,
  secrets: readonly string[] = [],
): Failure {
  if (thrown instanceof Failure) return thrown
  const { label } = provider
  const hide = createRedactor(secrets)
  // Errors of Gatehouse's own client contain no secrets.
  const cause = thrown instanceof OAuth2Error ? thrown : redactError(thrown, hide)
  const { error, description, status = request.status } = reported(thrown)
  const url = withoutQuery(request.url)
  const isChallenge = thrown instanceof WWWAuthenticateChallengeError && thrown.status === 401
  if (isChallenge || (error !== undefined && REGISTRATION.test(error))) {
    return new Failure(
      'unavailable',
      `${label} rejected the credentials of this server (${truncate(hide(error ?? 'status 401'))}). The operator of this server must check the client id and secret.`,
      { cause },
    )
  }
  const isRejected = status !== undefined && status < 500
  if (isRejected && error !== undefined) {
    const report = printReport(hide(error), description && hide(description))
    const advice = redirectAdvice(provider, error, description, callback)
    return new Failure('bad-parameter', `${label} rejected this sign-in (${report}).${advice}`, {
      cause,
    })
  }
  if (isRejected && thrown instanceof OAuth2Error && thrown.code === 'http-status') {
    return new Failure(
      'bad-parameter',
      `${label} rejected this sign-in (status ${status} from ${url}).`,
      { cause },
    )
  }
  const reason = truncate(hide(reasonOf(thrown)), MAX_DESCRIPTION)
  return new Failure(
    'unavailable',
    status === undefined
      ? `${label} did not respond at ${url}: ${reason}.`
      : `${label} returned an invalid response (status ${status} from ${url}): ${reason}.`,
    { cause },
  )
}

/** Returns the message of an error, with the system code or the message of its cause. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  const { message, cause } = thrown
  const reason = systemCode(cause) ?? (cause instanceof Error ? cause.message : '')
  return reason === '' ? message : `${message} (${reason})`
}

interface Reported {
  readonly error?: string | undefined
  readonly description?: string | undefined
  readonly status?: number | undefined
}

/** Returns the error that the provider reported in the form of RFC 6749 §5.2, if any. */
function reported(cause: unknown): Reported {
  if (cause instanceof ResponseBodyError) {
    const { error, error_description: description, status } = cause
    return { error, description, status }
  }
  if (!(cause instanceof OAuth2Error)) return {}
  const { code, status } = cause
  if (code !== 'provider-error') return { status }
  const { error, error_description: description } = cause.cause as ProviderReport
  return { error, description, status }
}

const REDACTED = '[redacted]'

/**
 * Maximum length of a text that is searched for secrets, in characters. A longer one is redacted as
 * a whole: the time of the search grows with the product of the lengths of text and secret.
 */
const MAX_SEARCHED = 8 * 1024

/** Secrets of fewer characters are redacted only as whole words, since parts of words match them. */
const MIN_PART = 8

/** Returns a function that redacts secrets in a text, in all spellings in which they were sent. */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const spellings = secrets
    .filter((secret) => secret !== '')
    .flatMap((secret) => [
      secret,
      encodeURIComponent(secret),
      new URLSearchParams([['', secret]]).toString().slice(1),
      JSON.stringify(secret).slice(1, -1),
    ])
  if (spellings.length === 0) return (text) => text
  const patterns = [...new Set(spellings)]
    // Longest first: one may be a prefix of another.
    .sort((a, b) => b.length - a.length)
    .map((each) => {
      const pattern = RegExp.escape(each)
      return each.length < MIN_PART ? `(?<!\\w)${pattern}(?!\\w)` : pattern
    })
  const any = new RegExp(patterns.join('|'), 'g')
  return (text) => (text.length > MAX_SEARCHED ? REDACTED : text.replaceAll(any, REDACTED))
}

/**
 * Returns a copy of an `oauth4webapi` error that is safe to log. The cause of the original holds
 * the server's response, which may repeat secrets. The copy keeps messages, stacks and the fields
 * of an OAuth error (RFC 6749 §5.2), redacted.
 */
function redactError(thrown: unknown, hide: (text: string) => string, depth = 0): unknown {
  if (!(thrown instanceof Error) || depth > 3) return undefined
  const cause = redactError(thrown.cause, hide, depth + 1)
  const redacted = new Error(hide(thrown.message), cause === undefined ? undefined : { cause })
  redacted.name = thrown.name
  redacted.stack = hide(thrown.stack ?? '')
  for (const field of ['code', 'status', 'error', 'error_description'] as const) {
    const value = (thrown as Error & Partial<Record<typeof field, unknown>>)[field]
    if (typeof value === 'number') Object.assign(redacted, { [field]: value })
    if (typeof value === 'string') Object.assign(redacted, { [field]: hide(value).slice(0, 200) })
  }
  return redacted
}
