import { randomInt } from 'node:crypto'
import { type Context, Hono } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Logger } from 'pino'
import type { Invitations } from '../access/invitations.ts'
import type { SignIn } from '../access/sessions.ts'
import type { Principal } from '../contract/access/principal.ts'
import type { ProviderTest } from '../contract/access/provider.ts'
import { Failure } from '../failure.ts'
import type { AppEnv } from '../http/env.ts'
import type { ClientOf } from '../http/guards/client-address.ts'
import { guardForm } from '../http/guards/guard-origin.ts'
import { createOwnOrigin, NoOrigin } from '../http/guards/own-origin.ts'
import { readSignInCookies, setSignInCookies } from '../http/guards/sign-in-cookies.ts'
import { readForm } from '../http/input/body/request-body.ts'
import type { PageFonts } from '../http/output/page-fonts.ts'
import { toFailure } from '../http/output/render-failure.ts'
import {
  failedSignInPage,
  invitationPage,
  pageStyle,
  signInPolicy,
  testPage,
} from '../http/static/sign-in-pages.ts'
import type { RecordFailedSignIn } from './failed-sign-ins.ts'
import { noProvider } from './providers/managed-providers.ts'
import type { Provider } from './providers/provider.ts'
import { withoutQuery } from './providers/provider-failure.ts'
import { type PendingSignIns, SIGN_IN_SECONDS } from './sign-in/pending-sign-in.ts'
import type { ProviderTests } from './sign-in/provider-tests.ts'
import {
  callbackPath,
  finishSignIn,
  ProviderError,
  StaleSignIn,
  type Start,
  startSignIn,
  takeSignIn,
  tokenParameter,
} from './sign-in/sign-in.ts'
import type { SignInLimit } from './sign-in/sign-in-limit.ts'

/**
 * Creates or updates the person and begins a session (docs/sign-in.md, "The flow"). Returns the
 * value of the Set-Cookie header.
 */
export type BeginSession = (c: Context<AppEnv>, signIn: SignIn) => Promise<string>

/**
 * Returns the person of the valid session of a request. If there is one, a stale callback redirects
 * instead of failing.
 */
export type SessionPerson = (
  c: Context<AppEnv>,
) => Promise<Pick<Principal, 'username' | 'role'> | undefined>

export interface OAuth2Deps {
  /** Returns a provider by its name. */
  readonly findProvider: (name: string) => Provider | undefined
  readonly pending: PendingSignIns
  readonly tests: ProviderTests
  readonly invitations: Pick<Invitations, 'find' | 'ended'>
  readonly beginSession: BeginSession
  readonly sessionPerson: SessionPerson
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
  const { pending, tests, publicOrigin, clientOf, log } = deps
  const style = pageStyle(deps.fonts)
  const ownOrigin = createOwnOrigin(publicOrigin, clientOf)
  const providerOf = (name: string): Provider => {
    const provider = deps.findProvider(name)
    if (provider === undefined) throw noProvider()
    return provider
  }

  /** Starts a sign-in or a test. Returns the URL to redirect the person to. */
  async function start(
    c: Context<AppEnv>,
    provider: Provider,
    what: Pick<Start, 'returnTo' | 'invitation' | 'test'>,
  ): Promise<string> {
    const origin = ownOrigin(c)
    if (origin === undefined) throw new NoOrigin()
    deps.limit.begin('start', clientOf(c).address)
    const token = createCsrfToken()
    const scope = cookieScope(provider)
    const supersedes = setSignInCookies(c, scope, token, origin.startsWith('https:'))
    return startSignIn(provider, pending, { token, origin, supersedes, ...what })
  }

  /** Returns the id of the open invitation that a form names. @throws Failure `gone` */
  async function invitationOf(form: URLSearchParams, provider: Provider) {
    const token = form.get('invitation')
    if (token === null) return undefined
    const found = await deps.invitations.find(token)
    if (found?.state === 'open' && found.provider === provider.name) return found.id
    throw deps.invitations.ended(found?.state)
  }

  /** Records the end of a test that failed, and renders its page. */
  async function failedTest(c: Context<AppEnv>, id: string, error: unknown, step: TestStep) {
    const { message } = toFailure(error)
    await tests.addStep(id, { ...step, outcome: 'failed', detail: message })
    c.header('Content-Security-Policy', signInPolicy({ leavesOrigin: false }))
    return c.html(testPage({ passed: false, message }))
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
    // A new attempt cannot succeed if the origin is unknown, the person's access was removed, or the
    // invitation has ended.
    const isFinal =
      error instanceof NoOrigin || failure.code === 'forbidden' || failure.code === 'gone'
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
          const fields = isForm(c) ? form : new URLSearchParams()
          const invitation = await invitationOf(fields, provider)
          const returnTo = fields.get('returnTo') ?? undefined
          return c.redirect(await start(c, provider, { returnTo, invitation }), 303)
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
        const token = query.get(tokenParameter(provider))
        const cookies = readSignInCookies(c, scope, token)
        const { cookie, hostCookie } = cookies
        let test: string | null = null
        const step: TestStep & { requests: string[] } = { name: 'response', requests: [] }
        try {
          const taken = await takeSignIn(provider, pending, { query, cookie, hostCookie })
          test = taken.test
          if (test !== null) {
            const detail = `${provider.label} sent the browser back with a code.`
            await tests.addStep(test, { ...step, outcome: 'done', detail })
            step.name = 'exchange'
          }
          const trace = (request: string) => step.requests.push(request)
          const { signIn, location } = await finishSignIn(provider, taken, trace)
          username = `${signIn.provider}:${signIn.subject}`
          if (test !== null) {
            cookies.clear()
            const who = signIn.name === null ? username : `${username} (${signIn.name})`
            const message = `You would be signed in as ${who}.`
            await tests.addStep(test, { ...step, outcome: 'done', detail: message })
            c.header('Content-Security-Policy', signInPolicy({ leavesOrigin: false }))
            return c.html(testPage({ passed: true, message }))
          }
          const { invitation } = taken
          const accepting = invitation === null ? signIn : { ...signIn, invitation }
          const session = await deps.beginSession(c, accepting)
          c.header('Set-Cookie', session, { append: true })
          deps.limit.finish('start', clientOf(c).address)
          cookies.clear()
          return c.redirect(location, 303)
        } catch (error) {
          if (cookie && cookie === token) test ??= await pending.testOf(cookie, provider.name)
          if (test !== null) return failedTest(c, test, error, step)
          const root = ownOrigin(c)
          const isSignedIn = async () => (await deps.sessionPerson(c)) !== undefined
          if (error instanceof StaleSignIn && root !== undefined && (await isSignedIn())) {
            return c.redirect(`${root}/`, 303)
          }
          if (error instanceof ProviderError) deps.countProviderError(c.env.outgoing)
          const { address } = clientOf(c)
          const failure = toFailure(error)
          await deps.recordFailed({ provider: provider.name, address, failure, username })
          return failed(c, error, provider)
        }
      })
      // A test of a provider, which an admin has started.
      .get('/:provider/test/:id', async (c) => {
        const provider = providerOf(c.req.param('provider'))
        const id = c.req.param('id')
        c.header('Cache-Control', 'no-store')
        if (c.req.raw.method === 'HEAD') return c.body(null, 200)
        if (!(await tests.open(id, provider.name))) {
          throw new Failure('gone', 'This test was already opened, or has expired. Start another.')
        }
        const step: TestStep & { requests: string[] } = { name: 'start', requests: [] }
        try {
          const trace = (request: string) => step.requests.push(request)
          const location = await start(c, provider, { returnTo: undefined, test: { id, trace } })
          const detail = `Sent the browser to ${withoutQuery(location)}.`
          await tests.addStep(id, { ...step, outcome: 'done', detail })
          return c.redirect(location, 303)
        } catch (error) {
          return failedTest(c, id, error, step)
        }
      })
      .get('/invitation', async (c) => {
        c.header('Cache-Control', 'no-store')
        deps.limit.begin('invitation', clientOf(c).address)
        const found = await deps.invitations.find(c.req.query('token') ?? '')
        const person = await deps.sessionPerson(c)
        const provider = found && deps.findProvider(found.provider)
        c.header('Content-Security-Policy', signInPolicy({ leavesOrigin: true }))
        if (found?.state !== 'open' || provider === undefined) {
          return c.html(
            invitationPage({ ended: deps.invitations.ended(found?.state).message }),
            410,
          )
        }
        if (person !== undefined && person.role !== 'pending') {
          return c.html(invitationPage({ signedIn: person.username }))
        }
        const { role, databases, creator, expires } = found
        const action = callbackPath(provider.name)
        const token = c.req.query('token') ?? ''
        const { label } = provider
        return c.html(
          invitationPage({
            invitation: { role, databases, creator, expires, label, action, token },
          }),
        )
      })
  )
}

/** The step of a test that a request makes. */
type TestStep = Pick<ProviderTest['steps'][number], 'name' | 'requests'>

/** Returns where the cookies of a sign-in are set, and for how long. */
const cookieScope = ({ name }: Provider) => ({
  provider: name,
  path: callbackPath(name),
  seconds: SIGN_IN_SECONDS,
})

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

/** Whether the body of a request is a form. */
const isForm = (c: Context<AppEnv>): boolean =>
  /^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(c.req.header('Content-Type') ?? '')

const ALPHANUMERICS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Returns a token of 32 random alphanumeric characters: 190 bits. */
export const createCsrfToken = (): string =>
  Array.from({ length: 32 }, () => ALPHANUMERICS[randomInt(ALPHANUMERICS.length)]).join('')
