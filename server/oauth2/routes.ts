import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Logger } from 'pino'
import { type ProviderInfo, providerList, providerSetupList } from '../contract/session.ts'
import { Failure } from '../failure.ts'
import type { ClientOf } from '../http/client.ts'
import { describe } from '../http/describe.ts'
import type { AppEnv } from '../http/env.ts'
import { createOwnOrigin, guardForm } from '../http/own-origin.ts'
import type { PageFonts } from '../http/page-fonts.ts'
import { toFailure } from '../http/render-failure.ts'
import { readForm } from '../http/request-body.ts'
import { failedSignInPage, pageStyle, signInPolicy } from '../http/sign-in-pages.ts'
import { SIGN_IN_SECONDS } from './csrf-token.ts'
import type { Identity } from './identity.ts'
import type { PendingSignIns } from './pending-sign-in.ts'
import type { Provider } from './provider.ts'
import { callbackPath, finishSignIn, Stale, startSignIn } from './sign-in.ts'
import type { SignInLimit } from './sign-in-limit.ts'

/**
 * Stores the person (seed 001, "Processing rules" 6: created, or the token updated) and begins a
 * session (7); answers the value of the Set-Cookie header.
 */
export type BeginSession = (c: Context<AppEnv>, identity: Identity) => Promise<string>

/** Whether the request carries a valid session, which beats a stale callback. */
export type HasSession = (c: Context<AppEnv>) => Promise<boolean>

/** What the routes of the sign-in are made of. */
export interface OAuth2Deps {
  /** In the order of the buttons; each name once. */
  readonly providers: readonly Provider[]
  readonly pending: PendingSignIns
  readonly beginSession: BeginSession
  readonly hasSession: HasSession
  readonly limit: SignInLimit
  readonly clientOf: ClientOf
  readonly publicOrigin: string | undefined
  /** What the pages are written in; undefined: the fonts of the system. */
  readonly fonts: PageFonts | undefined
  readonly log: Logger
}

/** The cookie that ties a sign-in to the browser that started it (seed 001). */
export const CSRF_COOKIE = 'oauth2_csrf_token'

/**
 * A second cookie with the same value, set where the browser's connection is encrypted. The prefix
 * `__Host-` keeps other hosts of the domain from setting it (RFC 6265bis §4.1.3). It is sent to every
 * path, so its name includes the provider.
 */
const hostCookieOf = (provider: string) => `${CSRF_COOKIE}_${provider}`

/** `/_oauth2`: the two routes of seed 001 for every provider, and the style of their pages. */
export function oauth2Routes(deps: OAuth2Deps) {
  const { pending, publicOrigin, clientOf, log } = deps
  const style = pageStyle(deps.fonts)
  const ownOrigin = createOwnOrigin(publicOrigin, clientOf)
  const providerOf = (name: string): Provider => {
    const provider = deps.providers.find((each) => each.name === name)
    if (provider === undefined) throw new Failure('not-found', 'There is no such provider.')
    return provider
  }

  /** The page of a sign-in that failed, with the status of the failure. */
  const failed = (c: Context<AppEnv>, error: unknown, provider: Provider) => {
    const failure = toFailure(error)
    const { status } = failure.kind
    // What a provider reports is the person's business, what fails between two servers is ours.
    log[status === 503 || error !== failure ? 'error' : 'info'](
      { err: failure.cause, provider: provider.name, status },
      failure.message,
    )
    const start = error instanceof NoOrigin ? undefined : callbackPath(provider.name)
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
          // It names files of the console, which a newer version does not have.
          'Cache-Control': 'no-cache',
        }),
      )
      .use('/:provider/auth', async (c, next) => {
        c.header('Cache-Control', 'no-store')
        await next()
      })
      .post('/:provider/auth', async (c) => {
        const provider = providerOf(c.req.param('provider'))
        guardForm(c, publicOrigin, clientOf)
        const form = await readForm(c)
        try {
          const origin = ownOrigin(c)
          if (origin === undefined) throw new NoOrigin()
          deps.limit.begin('start', clientOf(c).address)
          const { token, location } = await startSignIn(provider, pending, {
            origin,
            returnTo: returnToOf(c, form),
            supersedes: getCookie(c, CSRF_COOKIE),
          })
          setCookie(c, CSRF_COOKIE, token, {
            maxAge: SIGN_IN_SECONDS,
            httpOnly: true,
            sameSite: 'Lax',
            secure: origin.startsWith('https:'),
            path: callbackPath(provider.name),
          })
          if (origin.startsWith('https:')) {
            setCookie(c, hostCookieOf(provider.name), token, {
              prefix: 'host',
              maxAge: SIGN_IN_SECONDS,
              httpOnly: true,
              sameSite: 'Lax',
            })
          }
          return c.redirect(location, 303)
        } catch (error) {
          return failed(c, error, provider)
        }
      })
      // The route that seed 001 names oauth2_callback.
      .get('/:provider/auth', async (c) => {
        const provider = providerOf(c.req.param('provider'))
        // Hono answers HEAD by this route. Link scanners send it, and the code counts once.
        if (c.req.raw.method === 'HEAD') return c.body(null, 200)
        try {
          const { identity, location } = await finishSignIn(provider, pending, {
            query: new URL(c.req.url).searchParams,
            cookie: getCookie(c, CSRF_COOKIE),
            hostCookie: getCookie(c, hostCookieOf(provider.name), 'host'),
          })
          c.header('Set-Cookie', await deps.beginSession(c, identity), { append: true })
          deps.limit.finish('start', clientOf(c).address)
          setCookie(c, CSRF_COOKIE, '', { maxAge: 0, path: callbackPath(provider.name) })
          if (getCookie(c, hostCookieOf(provider.name), 'host') !== undefined) {
            setCookie(c, hostCookieOf(provider.name), '', { prefix: 'host', maxAge: 0 })
          }
          return c.redirect(location, 303)
        } catch (error) {
          const root = ownOrigin(c)
          if (error instanceof Stale && root !== undefined && (await deps.hasSession(c))) {
            return c.redirect(`${root}/`, 303)
          }
          return failed(c, error, provider)
        }
      })
  )
}

/** The server does not know under which URL the person's browser reaches it. */
class NoOrigin extends Failure {
  constructor() {
    super(
      'bad-parameter',
      'This server does not know under which URL people reach it, so no provider could send you ' +
        'back. Its operator can say so with --public-url (GATEHOUSE_PUBLIC_URL).',
    )
  }
}

/** Where the form wants to return to; a start without a form (seed 001: no body) says nothing. */
function returnToOf(c: Context<AppEnv>, form: URLSearchParams): string | undefined {
  const type = c.req.header('Content-Type') ?? ''
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type)) return undefined
  return form.get('returnTo') ?? undefined
}

/** What `/_api/provider` is made of. */
export interface ProviderDeps {
  readonly providers: readonly Provider[]
  readonly clientOf: ClientOf
  readonly publicOrigin: string | undefined
}

/**
 * `/_api/provider`: the ways to sign in, for everybody, and what has to be registered at each, for
 * those whom `permit` lets.
 */
export const providerRoutes = (
  { providers, clientOf, publicOrigin }: ProviderDeps,
  everybody: MiddlewareHandler<AppEnv>,
  permit: MiddlewareHandler<AppEnv>,
) => {
  const ownOrigin = createOwnOrigin(publicOrigin, clientOf)
  return new Hono<AppEnv>()
    .get(
      '/',
      describe({ summary: 'List the ways to sign in', answers: { 200: providerList } }),
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
        summary: 'List what has to be registered at the providers',
        answers: { 200: providerSetupList },
      }),
      permit,
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
