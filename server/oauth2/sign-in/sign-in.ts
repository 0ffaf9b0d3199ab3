import { Failure } from '../failure.ts'
import { challengeOf, createCsrfToken, createSecret } from './csrf-token.ts'
import type { Identity } from './identity.ts'
import type { PendingSignIn, PendingSignIns } from './pending-sign-in.ts'
import type { Provider } from './provider.ts'
import { cut } from './provider-failure.ts'
import { returnPath } from './return-to.ts'

/** What begins a sign-in. */
export interface Start {
  /** Under which the person's browser reaches this server. */
  readonly origin: string
  /** Where the person wants to be afterwards, as it was sent. */
  readonly returnTo: string | undefined
  /** The token of a sign-in at this provider that was started before in this browser. */
  readonly supersedes: string | undefined
}

/** The path of a provider's callback, and of its start. */
export const callbackPath = (provider: string): string => `/_oauth2/${provider}/auth`

/**
 * Starts a sign-in (seed 001, "Start authorization"): answers the token for the cookie and the URL to
 * send the person to. The redirect URI carries the token as the provider's form says; `state` and a
 * PKCE challenge go along in every form.
 *
 * @throws Failure `unavailable`
 */
export async function startSignIn(
  provider: Provider,
  pending: PendingSignIns,
  { origin, returnTo, supersedes }: Start,
): Promise<{ readonly token: string; readonly location: string }> {
  const token = createCsrfToken()
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
  }
  const location = await provider.authorize({
    origin,
    redirectUri: signIn.redirectUri,
    state: token,
    challenge: challengeOf(signIn.verifier),
    nonce: signIn.nonce,
  })
  await pending.keep(token, signIn, supersedes)
  return { token, location }
}

/** What came back from a provider. */
export interface Callback {
  readonly query: URLSearchParams
  /** The cookie `oauth2_csrf_token`. */
  readonly cookie: string | undefined
  /** The same value in a cookie with the prefix `__Host-`, which no other host can set. */
  readonly hostCookie?: string | undefined
}

/** The parameters that count: given twice, there is no telling which one is meant. */
const PARAMETERS = ['csrfToken', 'state', 'code', 'iss']

interface Step extends Callback {
  readonly provider: Provider
}

type Check = (step: Step) => void

/** The checks of a callback before anything is done, in the order of seed 001. */
const CHECKS: readonly Check[] = [
  function error({ query, cookie, provider }) {
    const given = query.get('error')
    if (given === null) return
    // The sentence is shown only if it belongs to this sign-in: anyone can make a link with another.
    const isOurs = (cookie ?? '') !== '' && query.get(tokenParameter(provider)) === cookie
    const more = (isOurs && query.get('error_description')) || ''
    const said = cut(more === '' ? given : `${given}: ${more}`)
    throw new Failure('internal', `${provider.label} reports an error: ${said}`)
  },
  function duplicates({ query }) {
    if (PARAMETERS.every((name) => query.getAll(name).length <= 1)) return
    throw new Failure('bad-parameter', 'The answer has a parameter twice.')
  },
  function csrfToken({ query, cookie, provider }) {
    const given = query.get(tokenParameter(provider))
    if (cookie === undefined || cookie === '' || given !== cookie) throw new Stale()
  },
  function state({ query, cookie }) {
    const given = query.get('state')
    if (given !== null && given !== cookie) throw new Stale()
  },
  function code({ query, provider }) {
    if ((query.get('code') ?? '') !== '') return
    throw new Failure('bad-parameter', `${provider.label} passed no grant token (no code).`)
  },
]

/** The parameter that returns the CSRF token. */
const tokenParameter = ({ form }: Provider) => (form === 'exact' ? 'state' : 'csrfToken')

/** A callback that belongs to no sign-in of this browser that is under way. */
export class Stale extends Failure {
  constructor() {
    super(
      'bad-parameter',
      'CSRF mismatch: this answer belongs to no sign-in that is under way in this browser. It took ' +
        'too long, was used before, or another sign-in was started meanwhile.',
    )
  }
}

/**
 * Finishes a sign-in (seed 001, "Processing rules" 1 to 5): answers who it is and where to go. What
 * was kept at the start is deleted before anything is asked of the provider, so a callback that is
 * repeated, or comes often at once, counts once.
 *
 * @throws Stale, or Failure `internal` where the provider reports an error, `bad-parameter`,
 * `unavailable`.
 */
export async function finishSignIn(
  provider: Provider,
  pending: PendingSignIns,
  callback: Callback,
): Promise<{ readonly identity: Identity; readonly location: string }> {
  for (const check of CHECKS) check({ ...callback, provider })
  const { query, cookie = '', hostCookie } = callback
  const kept = await pending.take(cookie, provider.name)
  // The configuration may have changed since the start.
  if (kept === undefined || kept.form !== provider.form) throw new Stale()
  if (kept.exchangeUri.startsWith('https:') && hostCookie !== cookie) throw new Stale()
  const identity = await provider.complete({
    code: query.get('code') ?? '',
    iss: query.get('iss') ?? undefined,
    exchangeUri: kept.exchangeUri,
    verifier: kept.verifier,
    nonce: kept.nonce,
  })
  return { identity, location: new URL(kept.returnTo, kept.exchangeUri).href }
}
