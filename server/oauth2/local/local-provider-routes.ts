import { type Context, Hono } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { Failure } from '../failure.ts'
import type { ClientOf } from '../http/client.ts'
import type { AppEnv } from '../http/env.ts'
import { guardForm } from '../http/own-origin.ts'
import { toFailure } from '../http/render-failure.ts'
import { readForm } from '../http/request-body.ts'
import { failedSignInPage, keyPage, signInPolicy } from '../http/sign-in-pages.ts'
import type { GivenKey, LocalProvider } from './local-provider.ts'
import { callbackPath } from './sign-in.ts'
import type { SignInLimit } from './sign-in-limit.ts'

/** What the routes of the local provider are made of. */
export interface LocalProviderRoutesDeps {
  readonly local: LocalProvider
  readonly limit: SignInLimit
  readonly clientOf: ClientOf
  readonly publicOrigin: string | undefined
}

/**
 * `/_idp`: where a browser passes at a sign-in with the operator key. The rest of the provider, its
 * token endpoint and its keys, is asked in this process alone and does not answer here.
 */
export function localProviderRoutes({
  local,
  limit,
  clientOf,
  publicOrigin,
}: LocalProviderRoutesDeps) {
  const pass = async (c: Context<AppEnv>) => {
    const path = c.req.path.slice('/_idp'.length) + new URL(c.req.url).search
    const cookie = c.req.header('Cookie')
    try {
      const { location, cookies } = await local.page({ path, cookie, secure: clientOf(c).secure })
      for (const each of cookies) c.header('Set-Cookie', each, { append: true })
      return c.redirect(location, 303)
    } catch (error) {
      return failed(c, error)
    }
  }
  /** Shows the key page, or why it cannot be shown. */
  const showKeyPage = (c: Context<AppEnv>, uid: string, fault?: Failure) => {
    const page = keyPage({ action: `/_idp/key/${uid}`, fault: fault?.message })
    return c.html(page, (fault?.kind.status ?? 200) as ContentfulStatusCode, { ...fault?.headers })
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
      return pass(c)
    })
    .get('/auth/:uid', pass)
    .get('/key/:uid', async (c) => {
      const uid = c.req.param('uid')
      try {
        await local.giveKey(uid, c.req.header('Cookie'))
        return showKeyPage(c, uid)
      } catch (error) {
        return failed(c, error)
      }
    })
    .post('/key/:uid', async (c) => {
      guardForm(c, publicOrigin, clientOf)
      const uid = c.req.param('uid')
      const text = (await readForm(c)).get('key') ?? ''
      const key: GivenKey = { text, address: clientOf(c).address }
      try {
        const location = await local.giveKey(uid, c.req.header('Cookie'), key)
        limit.finish('key', clientOf(c).address)
        return c.redirect(location, 303)
      } catch (error) {
        const wrong = error instanceof Failure && REFUSED.includes(error.code)
        return wrong ? showKeyPage(c, uid, error) : failed(c, error)
      }
    })
}

/** The key was wrong: it is asked for again. */
const REFUSED: readonly Failure['code'][] = ['forbidden', 'too-many-requests']

function failed(c: Context<AppEnv>, error: unknown): Response | Promise<Response> {
  const { kind, code, message, headers } = toFailure(error)
  if (code !== 'bad-parameter' && code !== 'too-many-requests') throw error
  const page = failedSignInPage({ status: kind.status, message, start: callbackPath('local') })
  return c.html(page, kind.status as ContentfulStatusCode, { ...headers })
}
