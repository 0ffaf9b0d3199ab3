import type { Context } from 'hono'
import { Failure } from '../failure.ts'
import type { AppEnv } from './env.ts'

const SAFE = new Set(['GET', 'HEAD'])

/**
 * Refuses a change that another web page asks for: a browser names the page in `Origin` or says
 * `Sec-Fetch-Site`, and a page of ours sets `X-Gatehouse: 1`, which no form can. What sends none of
 * these is no browser, and is left alone.
 *
 * @throws Failure `forbidden`
 */
export function guardOrigin(c: Context<AppEnv>, publicOrigin: string | undefined): void {
  if (SAFE.has(c.req.method)) return
  const origin = c.req.header('Origin')
  const site = c.req.header('Sec-Fetch-Site')
  if (origin === undefined && site === undefined) return
  const sameOrigin =
    (site === undefined || site === 'same-origin') &&
    (origin === undefined || origin === publicOrigin || isHost(origin, c.req.header('Host')))
  if (!sameOrigin) {
    throw new Failure(
      'forbidden',
      'Another web page asked for this change. It was not carried out.',
    )
  }
  if (c.req.header('X-Gatehouse') !== '1') {
    throw new Failure('forbidden', 'From a browser, a change needs the header X-Gatehouse: 1.')
  }
}

/** Whether an origin is the host that the request was sent to; the scheme a proxy may have changed. */
function isHost(origin: string, host: string | undefined): boolean {
  return host !== undefined && URL.canParse(origin) && new URL(origin).host === host.toLowerCase()
}
