import { Failure } from '../failure.ts'
import type { Asked } from './env.ts'

const SAFE = new Set(['GET', 'HEAD'])

/**
 * Refuses a change that no page of ours asks for: of a page of ours the browser says so, by `Origin`
 * or `Sec-Fetch-Site`, and it sets `X-Gatehouse: 1`, which no form can. A browser that says neither
 * could be sent by any page.
 *
 * @throws Failure `forbidden`
 */
export function guardOrigin(c: Asked, publicOrigin: string | undefined): void {
  if (SAFE.has(c.req.method)) return
  const origin = c.req.header('Origin')
  const site = c.req.header('Sec-Fetch-Site')
  const sameOrigin =
    !(origin === undefined && site === undefined) &&
    (site === undefined || site === 'same-origin') &&
    (origin === undefined || origin === publicOrigin || isHost(origin, c.req.header('Host')))
  if (!sameOrigin) {
    throw new Failure(
      'forbidden',
      'No page of this server asked for this change, as far as the browser says. It was not ' +
        'carried out. Scripts send a token.',
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
