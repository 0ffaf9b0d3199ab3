import { type Context, Hono } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { LOCAL_PROVIDER } from '../../contract/access/principal.ts'
import { Failure } from '../../failure.ts'
import type { AppEnv } from '../../http/env.ts'
import type { ClientOf } from '../../http/guards/client-address.ts'
import { guardForm } from '../../http/guards/guard-origin.ts'
import { readForm } from '../../http/input/body/request-body.ts'
import { pathParam } from '../../http/input/url.ts'
import { toFailure } from '../../http/output/render-failure.ts'
import { failedSignInPage, keyPage, signInPolicy } from '../../http/static/sign-in-pages.ts'
import type { RecordFailedSignIn } from '../failed-sign-ins.ts'
import { callbackPath } from '../sign-in/sign-in.ts'
import type { SignInLimit } from '../sign-in/sign-in-limit.ts'
import type { LocalProvider, SubmittedKey } from './local-provider.ts'

export interface LocalProviderRoutesDeps {
  readonly local: LocalProvider
  readonly limit: SignInLimit
  /** Records a wrong key in the audit log. */
  readonly recordFailed: RecordFailedSignIn
  readonly clientOf: ClientOf
  readonly publicOrigin: string | undefined
}

/**
 * Routes of `/_idp`: the pages of a sign-in with the operator key. The provider's other endpoints,
 * such as the token endpoint, are called within the process and are not served.
 */
export function localProviderRoutes({
  local,
  limit,
  recordFailed,
  clientOf,
  publicOrigin,
}: LocalProviderRoutesDeps) {
  const pass = async (c: Context<AppEnv>, endpoint: string) => {
    const { search, searchParams } = new URL(c.req.url)
    const path = endpoint + search
    const cookie = c.req.header('Cookie')
    try {
      if (searchParams.size > MAX_PARAMETERS) throw tooManyParameters()
      const { location, cookies } = await local.page({ path, cookie, secure: clientOf(c).secure })
      for (const each of cookies) c.header('Set-Cookie', each, { append: true })
      return c.redirect(location, 303)
    } catch (error) {
      return failed(c, error)
    }
  }
  // Encodes the id again: a decoded backslash would lead to another endpoint, past the limit.
  const resume = (c: Context<AppEnv>) => pass(c, `/auth/${encodeURIComponent(pathParam(c, 'uid'))}`)
  /** Renders the key page, with the error of a rejected key. */
  const showKeyPage = (c: Context<AppEnv>, uid: string, error?: Failure) => {
    const page = keyPage({ action: `/_idp/key/${uid}`, error: error?.message })
    return c.html(page, (error?.kind.status ?? 200) as ContentfulStatusCode, { ...error?.headers })
  }

  return new Hono<AppEnv>()
    .use(async (c, next) => {
      c.header('Cache-Control', 'no-store')
      c.header('Content-Security-Policy', signInPolicy({ leavesOrigin: false }))
      await next()
    })
    .get('/auth', async (c) => {
      try {
        limit.begin('key', clientOf(c).address)
      } catch (error) {
        return failed(c, error)
      }
      return pass(c, '/auth')
    })
    .get('/auth/:uid', resume)
    .get('/key/:uid', async (c) => {
      const uid = c.req.param('uid')
      try {
        await local.submitKey(uid, c.req.header('Cookie'))
        return showKeyPage(c, uid)
      } catch (error) {
        return failed(c, error)
      }
    })
    .post('/key/:uid', async (c) => {
      guardForm(c, clientOf(c).host, publicOrigin)
      const uid = c.req.param('uid')
      const text = (await readForm(c)).get('key') ?? ''
      const key: SubmittedKey = { text, address: clientOf(c).address }
      try {
        const location = await local.submitKey(uid, c.req.header('Cookie'), key)
        limit.finish('key', clientOf(c).address)
        return c.redirect(location, 303)
      } catch (error) {
        const wrong = error instanceof Failure && REFUSED.includes(error.code)
        if (!wrong) return failed(c, error)
        await recordFailed({ provider: LOCAL_PROVIDER, address: key.address, failure: error })
        return showKeyPage(c, uid, error)
      }
    })
}

/** Maximum number of parameters of a request, since the provider takes quadratic time to read them. */
const MAX_PARAMETERS = 50

const tooManyParameters = () =>
  new Failure('bad-parameter', `The request has more than ${MAX_PARAMETERS} parameters.`)

/** Failures after which the key page asks again. */
const REFUSED: readonly Failure['code'][] = ['forbidden', 'too-many-requests']

function failed(c: Context<AppEnv>, error: unknown): Response | Promise<Response> {
  const { kind, code, message, headers } = toFailure(error)
  if (code !== 'bad-parameter' && code !== 'too-many-requests') throw error
  const page = failedSignInPage({
    status: kind.status,
    message,
    start: callbackPath(LOCAL_PROVIDER),
  })
  return c.html(page, kind.status as ContentfulStatusCode, { ...headers })
}
