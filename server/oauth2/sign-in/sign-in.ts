import { hash } from 'node:crypto'
import type { SignIn } from '../../access/sessions.ts'
import { invariant } from '../../contract/invariant.ts'
import { Failure } from '../../failure.ts'
import { createSecret } from '../../secret.ts'
import type { Provider, Trace } from '../providers/provider.ts'
import { printReport, redirectAdvice } from '../providers/provider-failure.ts'
import type { PendingSignIn, PendingSignIns } from './pending-sign-in.ts'

export interface Start {
  /** Origin at which the browser reaches this server. */
  readonly origin: string
  /** Path to redirect to after the sign-in, as submitted. */
  readonly returnTo: string | undefined
  /** Token of the sign-in, the same as in its cookie. */
  readonly token: string
  /** Tokens of earlier sign-ins in this browser that this one replaces. */
  readonly supersedes: readonly string[]
  /** The id of the invitation to accept. */
  readonly invitation?: string | undefined
  /** A test instead of a sign-in. */
  readonly test?: { readonly id: string; readonly trace: Trace } | undefined
}

/** Returns the path of a provider's start (POST) and callback (GET). */
export const callbackPath = (provider: string): string => `/_oauth2/${provider}/auth`

/**
 * Starts a sign-in (docs/sign-in.md, "The flow") and returns the URL to redirect the person to. The
 * provider's form determines whether the redirect URI contains the token. All forms send `state`
 * and a PKCE challenge.
 *
 * @throws Failure `unavailable`
 */
export async function startSignIn(
  provider: Provider,
  pending: PendingSignIns,
  { token, origin, returnTo, supersedes, invitation, test }: Start,
): Promise<string> {
  const callback = origin + callbackPath(provider.name)
  const inUrl = `${callback}?csrfToken=${token}`
  const signIn: PendingSignIn = {
    provider: provider.name,
    form: provider.form,
    redirectUri: provider.form === 'exact' ? callback : inUrl,
    exchangeUri: provider.form === 'csrf-in-url-identical' ? inUrl : callback,
    verifier: createSecret(),
    nonce: createSecret(),
    returnTo: returnPath(returnTo),
    revision: provider.revision ?? 0,
    invitation: invitation ?? null,
    test: test?.id ?? null,
  }
  const location = await provider.authorize({
    origin,
    redirectUri: signIn.redirectUri,
    state: token,
    challenge: challengeOf(signIn.verifier),
    nonce: signIn.nonce,
    trace: test?.trace,
  })
  await pending.keep(token, signIn, supersedes)
  return location
}

/** A request to the callback. */
export interface Callback {
  readonly query: URLSearchParams
  /** The cookie `oauth2_csrf_token`. */
  readonly cookie: string | undefined
  /** The cookie with the prefix `__Host-` and the same value, which no other host can set. */
  readonly hostCookie?: string | undefined
}

/** Parameters that may occur only once, because a duplicate is ambiguous. */
const PARAMETERS = ['csrfToken', 'state', 'code', 'iss']

interface Step extends Callback {
  readonly provider: Provider
}

type Check = (step: Step) => void

/** Checks of a callback before it has any effect, in the order of docs/sign-in.md, "The flow". */
const CHECKS: readonly Check[] = [
  function error({ query, cookie, provider }) {
    const error = query.get('error')
    if (error === null) return
    // Show the description only if it belongs to this sign-in: anyone can create a link with
    // another one.
    const isOwn = (cookie ?? '') !== '' && query.get(tokenParameter(provider)) === cookie
    const description = (isOwn && query.get('error_description')) || undefined
    const advice = redirectAdvice(provider, error, description, callbackPath(provider.name))
    throw new ProviderError(
      `${provider.label} reported an error: ${printReport(error, description)}.${advice}`,
    )
  },
  function duplicates({ query }) {
    const field = PARAMETERS.find((name) => query.getAll(name).length > 1)
    if (field === undefined) return
    throw new Failure('bad-parameter', 'The response contains a parameter twice.', { field })
  },
  function csrfToken({ query, cookie, provider }) {
    const token = query.get(tokenParameter(provider))
    if (cookie === undefined || cookie === '' || token !== cookie) throw new StaleSignIn()
  },
  function state({ query, cookie }) {
    const state = query.get('state')
    if (state !== null && state !== cookie) throw new StaleSignIn()
  },
  function code({ query, provider }) {
    if ((query.get('code') ?? '') !== '') return
    throw new Failure('bad-parameter', `${provider.label} returned no authorization code.`, {
      field: 'code',
    })
  },
]

/** Returns the name of the parameter that carries the CSRF token. */
export const tokenParameter = ({ form }: Provider) => (form === 'exact' ? 'state' : 'csrfToken')

/** The provider reported an error to the callback, such as a cancelled sign-in. */
export class ProviderError extends Failure {
  constructor(message: string) {
    super('internal', message)
  }
}

/** The callback does not belong to a sign-in in progress in this browser. */
export class StaleSignIn extends Failure {
  constructor() {
    super(
      'bad-parameter',
      'CSRF mismatch: this response does not belong to a sign-in in this browser, or the sign-in ' +
        'has expired or was already completed.',
    )
  }
}

/** A sign-in that is no longer in progress, and the code of its response. */
export interface TakenSignIn extends PendingSignIn {
  readonly code: string
  readonly iss: string | undefined
}

/**
 * Checks a callback, then deletes the stored sign-in and returns it, so that only one of several
 * repeated or concurrent callbacks succeeds.
 *
 * @throws StaleSignIn; or Failure `internal` if the provider reports an error, `bad-parameter`,
 *   `unavailable`.
 */
export async function takeSignIn(
  provider: Provider,
  pending: PendingSignIns,
  callback: Callback,
): Promise<TakenSignIn> {
  for (const check of CHECKS) check({ ...callback, provider })
  const { query, cookie = '', hostCookie } = callback
  const taken = await pending.take(cookie, provider.name)
  // The configuration may have changed since the start: another server must not get the code.
  const isChanged = taken?.form !== provider.form || taken.revision !== (provider.revision ?? 0)
  if (taken === undefined || isChanged) throw new StaleSignIn()
  if (taken.exchangeUri.startsWith('https:') && hostCookie !== cookie) throw new StaleSignIn()
  const code = query.get('code')
  invariant(code, 'the checks reject a response without a code')
  return { ...taken, code, iss: query.get('iss') ?? undefined }
}

/**
 * Exchanges the code of a sign-in (docs/sign-in.md, "The flow"). Returns the person, and the URL to
 * redirect to.
 *
 * @throws as {@link Provider.complete}
 */
export async function finishSignIn(
  provider: Provider,
  { code, iss, exchangeUri, verifier, nonce, returnTo }: TakenSignIn,
  trace?: Trace,
): Promise<{ readonly signIn: SignIn; readonly location: string }> {
  const signIn = await provider.complete({ code, iss, exchangeUri, verifier, nonce, trace })
  return { signIn, location: new URL(returnTo, exchangeUri).href }
}

/** Returns the S256 `code_challenge` of a verifier (RFC 7636 §4.2). */
export const challengeOf = (verifier: string): string => hash('sha256', verifier, 'base64url')

/** Maximum length of a stored path. */
const MAX_LENGTH = 2_048

/**
 * Returns the normalized path on this origin to redirect to after the sign-in. Returns `/` if the
 * text is not a path, or if a browser could resolve it to another origin.
 *
 * @param text as submitted by the form of the sign-in page.
 */
export function returnPath(text: string | undefined): string {
  if (!text?.startsWith('/') || text.length > MAX_LENGTH) return '/'
  // Browsers treat backslashes as slashes and drop control characters (WHATWG URL, "basic URL
  // parser"). `URL` implements the same parser.
  const base = 'http://gatehouse.invalid'
  if (!URL.canParse(text, base)) return '/'
  const { origin, pathname, search, hash } = new URL(text, base)
  // Dot segments are resolved by now: `/.//evil.example` has become `//evil.example`, which names a
  // host.
  return origin === base && !pathname.startsWith('//') ? pathname + search + hash : '/'
}
