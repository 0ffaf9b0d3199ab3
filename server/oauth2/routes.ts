import { randomInt } from 'node:crypto'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Logger } from 'pino'
import type { SignIn } from '../access/sessions.ts'
import { type ProviderInfo, providerList, providerSetupList } from '../contract/access/session.ts'
import { isLoopbackHost } from '../contract/endpoints/address.ts'
import { Failure } from '../failure.ts'
import type { AppEnv } from '../http/env.ts'
import { type ClientOf, isPlainHost } from '../http/guards/client-address.ts'
import { hostName } from '../http/guards/guard-host.ts'
import { guardForm } from '../http/guards/guard-origin.ts'
import { readSignInCookies, setSignInCookies } from '../http/guards/sign-in-cookies.ts'
import { readForm } from '../http/input/body/request-body.ts'
import { describe } from '../http/openapi/describe.ts'
import type { PageFonts } from '../http/output/page-fonts.ts'
import { toFailure } from '../http/output/render-failure.ts'
import { failedSignInPage, pageStyle, signInPolicy } from '../http/static/sign-in-pages.ts'
import type { RecordFailedSignIn } from './failed-sign-ins.ts'
import type { Provider } from './providers/provider.ts'
import { type PendingSignIns, SIGN_IN_SECONDS } from './sign-in/pending-sign-in.ts'
import {
  callbackPath,
  finishSignIn,
  ProviderError,
  StaleSignIn,
  startSignIn,
  tokenParameter,
} from './sign-in/sign-in.ts'
import type { SignInLimit } from './sign-in/sign-in-limit.ts'

/**
 * Creates or updates the person and begins a session (docs/sign-in.md, "The flow"). Returns the
 * value of the Set-Cookie header.
 */
export type BeginSession = (c: Context<AppEnv>, signIn: SignIn) => Promise<string>

/**
 * Whether the request has a valid session. If so, a stale callback redirects instead of failing.
 */
export type HasSession = (c: Context<AppEnv>) => Promise<boolean>

export interface OAuth2Deps {
  /** In the order of the sign-in buttons. Names are unique. */
  readonly providers: readonly Provider[]
  readonly pending: PendingSignIns
  readonly beginSession: BeginSession
  readonly hasSession: HasSession
  readonly limit: SignInLimit
  /** Records a failed sign-in in the audit log. */
  readonly recordFailed: RecordFailedSignIn
  /** Called with the Node response to an error that a provider reported. */
  readonly countProviderError: (response: unknown) => void
  readonly clientOf: ClientOf
  readonly publicOrigin: string | undefined
  /** Fonts of the sign-in pages; undefined for the system fonts. */
  readonly fonts: PageFonts | undefined
  readonly log: Logger
}

/**
 * Routes of `/_oauth2`: start and callback of each provider, and the style sheet of their pages.
 */
export function oauth2Routes(deps: OAuth2Deps) {
  const { pending, publicOrigin, clientOf, log } = deps
  const style = pageStyle(deps.fonts)
  const ownOrigin = createOwnOrigin(publicOrigin, clientOf)
  const providerOf = (name: string): Provider => {
    const provider = deps.providers.find((each) => each.name === name)
    if (provider === undefined) throw new Failure('not-found', 'There is no such provider.')
    return provider
  }

  /** Renders the page of a failed sign-in, with the status of the failure. */
  const failed = (c: Context<AppEnv>, error: unknown, provider: Provider) => {
    const failure = toFailure(error)
    const { status } = failure.kind
    // Errors that the provider reports concern the person; errors between the servers, the
    // operator.
    log[status === 503 || error !== failure ? 'error' : 'info'](
      { err: failure.cause, provider: provider.name, status },
      failure.message,
    )
    // A new attempt cannot succeed if the origin is unknown or the person's access was removed.
    const isFinal = error instanceof NoOrigin || failure.code === 'forbidden'
    const start = isFinal ? undefined : callbackPath(provider.name)
    c.header('Content-Security-Policy', signInPolicy({ leavesOrigin: true }))
    return c.html(
      failedSignInPage({ status, message: failure.message, start }),
      status as ContentfulStatusCode,
      { ...failure.headers },
    )
  }

  return (
    new Hono<AppEnv>()
      .get('/page.css', (c) =>
        c.body(style, 200, {
          'Content-Type': 'text/css; charset=utf-8',
          // The style sheet names font files that only this version of the console has.
          'Cache-Control': 'no-cache',
        }),
      )
      .use('/:provider/auth', async (c, next) => {
        c.header('Cache-Control', 'no-store')
        await next()
      })
      .post('/:provider/auth', async (c) => {
        const provider = providerOf(c.req.param('provider'))
        const form = await readForm(c)
        if (isAuthorizationResponse(form)) return failed(c, formPost(provider), provider)
        guardForm(c, clientOf(c).host, publicOrigin)
        try {
          const origin = ownOrigin(c)
          if (origin === undefined) throw new NoOrigin()
          deps.limit.begin('start', clientOf(c).address)
          const token = createCsrfToken()
          const scope = cookieScope(provider)
          const supersedes = setSignInCookies(c, scope, token, origin.startsWith('https:'))
          const location = await startSignIn(provider, pending, {
            token,
            origin,
            returnTo: returnToOf(c, form),
            supersedes,
          })
          return c.redirect(location, 303)
        } catch (error) {
          return failed(c, error, provider)
        }
      })
      // The callback, to which the provider redirects the browser.
      .get('/:provider/auth', async (c) => {
        const provider = providerOf(c.req.param('provider'))
        // Hono also routes HEAD here. Link scanners send it, and it must not use up the code.
        if (c.req.raw.method === 'HEAD') return c.body(null, 200)
        const query = new URL(c.req.url).searchParams
        const scope = cookieScope(provider)
        let username: string | undefined
        const cookies = readSignInCookies(c, scope, query.get(tokenParameter(provider)))
        try {
          const { signIn, location } = await finishSignIn(provider, pending, {
            query,
            cookie: cookies.cookie,
            hostCookie: cookies.hostCookie,
          })
          username = `${signIn.provider}:${signIn.subject}`
          c.header('Set-Cookie', await deps.beginSession(c, signIn), { append: true })
          deps.limit.finish('start', clientOf(c).address)
          cookies.clear()
          return c.redirect(location, 303)
        } catch (error) {
          const root = ownOrigin(c)
          if (error instanceof StaleSignIn && root !== undefined && (await deps.hasSession(c))) {
            return c.redirect(`${root}/`, 303)
          }
          if (error instanceof ProviderError) deps.countProviderError(c.env.outgoing)
          const { address } = clientOf(c)
          const failure = toFailure(error)
          await deps.recordFailed({ provider: provider.name, address, failure, username })
          return failed(c, error, provider)
        }
      })
  )
}

/** Returns where the cookies of a sign-in are set, and for how long. */
const cookieScope = ({ name }: Provider) => ({
  provider: name,
  path: callbackPath(name),
  seconds: SIGN_IN_SECONDS,
})

/** The URL at which the browser reaches the server is unknown. */
class NoOrigin extends Failure {
  constructor() {
    super(
      'bad-parameter',
      'This server has no public URL, so the provider could not send you ' +
        'back. The operator of this server must set --public-url (GATEHOUSE_PUBLIC_URL).',
    )
  }
}

/** Returns the failure of an authorization response that a provider sent as a form. */
const formPost = ({ label }: Provider) =>
  new Failure(
    'bad-parameter',
    `${label} sent its response with response_mode=form_post. This server supports only the response mode query. ` +
      `The operator must remove form_post from the authorization endpoint or from the settings at ${label}.`,
  )

/** Whether a form has the fields of an authorization response (OAuth 2.0 Form Post Response Mode). */
const isAuthorizationResponse = (form: URLSearchParams): boolean =>
  form.has('state') && (form.has('code') || form.has('error') || form.has('id_token'))

/** Returns the form field `returnTo`, or undefined if the request has no form. */
function returnToOf(c: Context<AppEnv>, form: URLSearchParams): string | undefined {
  const type = c.req.header('Content-Type') ?? ''
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type)) return undefined
  return form.get('returnTo') ?? undefined
}

export interface ProviderDeps {
  readonly providers: readonly Provider[]
  readonly clientOf: ClientOf
  readonly publicOrigin: string | undefined
}

/**
 * Routes of `/_api/provider`: `/` lists the sign-in providers for everyone; `/setup` lists the data
 * to register at each provider, for callers that `requireRole` admits.
 */
export const providerRoutes = (
  { providers, clientOf, publicOrigin }: ProviderDeps,
  everybody: MiddlewareHandler<AppEnv>,
  requireRole: MiddlewareHandler<AppEnv>,
) => {
  const ownOrigin = createOwnOrigin(publicOrigin, clientOf)
  return new Hono<AppEnv>()
    .get(
      '/',
      describe({ summary: 'List the identity providers', responses: { 200: providerList } }),
      everybody,
      (c) =>
        c.json(
          providers.map(
            ({ name, label }): ProviderInfo => ({ name, label, start: callbackPath(name) }),
          ),
          200,
        ),
    )
    .get(
      '/setup',
      describe({
        summary: 'List the callback URLs to register with the providers',
        responses: { 200: providerSetupList },
      }),
      requireRole,
      (c) => {
        const origin = ownOrigin(c)
        return c.json(
          providers.map(({ name, label, form }) => ({
            name,
            label,
            form,
            callback: origin === undefined ? null : origin + callbackPath(name),
          })),
          200,
        )
      },
    )
}

/**
 * Returns the origin under which the browser reaches this server: the configured origin, or a
 * loopback name of this machine. Any other `Host` is ignored because the client chooses it.
 * Undefined if neither is known.
 */
type OwnOrigin = (c: Context<AppEnv>) => string | undefined

const createOwnOrigin =
  (publicOrigin: string | undefined, clientOf: ClientOf): OwnOrigin =>
  (c) => {
    const { host, secure } = clientOf(c)
    const requestOrigin = `${secure ? 'https' : 'http'}://${host.toLowerCase()}`
    const local = isLoopbackHost(hostName(host)) && isPlainHost(host) ? requestOrigin : undefined
    // An untrusted proxy may also address a loopback host. The browser's `Origin` decides.
    const isShown = local !== undefined && c.req.header('Origin') === local
    return isShown ? local : (publicOrigin ?? local)
  }

const ALPHANUMERICS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Returns a token of 32 random alphanumeric characters: 190 bits. */
export const createCsrfToken = (): string =>
  Array.from({ length: 32 }, () => ALPHANUMERICS[randomInt(ALPHANUMERICS.length)]).join('')
