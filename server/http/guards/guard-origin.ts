import { Failure } from '../../failure.ts'
import type { RequestView } from '../env.ts'
import { PROXY_ADVICE, SHOWN_HOST } from './guard-host.ts'

const SAFE_METHODS = new Set(['GET', 'HEAD'])

/**
 * Rejects a change that is authenticated by cookie unless a page of this server sent it. `Origin`
 * or `Sec-Fetch-Site` must confirm the origin: a request with neither could come from any page.
 * `X-Gatehouse: 1` must be set, which a form cannot do.
 *
 * @param host the host and port that the client addressed.
 * @throws Failure `forbidden`
 */
export function guardOrigin(c: RequestView, host: string, publicOrigin: string | undefined): void {
  if (SAFE_METHODS.has(c.req.method)) return
  const isTyped = c.req.header('Sec-Fetch-Site') === 'none'
  if (!isFromBrowser(c) || isTyped || !isSameOrigin(c, host, publicOrigin))
    throw foreignPage(c, host)
  if (c.req.header('X-Gatehouse') !== '1') {
    throw new Failure(
      'forbidden',
      'Changes with a session cookie require the header X-Gatehouse: 1.',
    )
  }
}

/**
 * Returns whether a browser sent the request. Every current browser sends one of these headers with
 * a change.
 */
export const isFromBrowser = ({ req }: RequestView): boolean =>
  req.header('Origin') !== undefined || req.header('Sec-Fetch-Site') !== undefined

/**
 * Rejects a change that another web page made a browser send with Basic credentials that the
 * browser remembers. Browsers send `Origin` with every cross-site `POST`, also over plain HTTP.
 * Clients that are not browsers send neither header and pass.
 *
 * @param host the host and port that the client addressed.
 * @throws Failure `forbidden`
 */
export function guardBasic(c: RequestView, host: string, publicOrigin: string | undefined): void {
  if (SAFE_METHODS.has(c.req.method)) return
  if (!isSameOrigin(c, host, publicOrigin)) throw foreignPage(c, host)
}

/**
 * Rejects a form that another web page sent. Forms of this server come from its own origin. A
 * request with neither `Origin` nor `Sec-Fetch-Site` does not come from a browser and passes.
 *
 * @param host the host and port that the client addressed.
 * @throws Failure `forbidden`
 */
export function guardForm(c: RequestView, host: string, publicOrigin: string | undefined): void {
  if (isSameOrigin(c, host, publicOrigin)) return
  throw new Failure(
    'forbidden',
    `This form was sent by a page of another site and was rejected.${replacedHost(c, host)}`,
  )
}

const foreignPage = (c: RequestView, host: string) =>
  new Failure(
    'forbidden',
    'The change was rejected because Origin and Sec-Fetch-Site do not show that a page of this ' +
      `server sent it.${replacedHost(c, host)} In scripts, authenticate with the header "Authorization: Bearer TOKEN".`,
  )

/** Returns advice for a request whose host a proxy seems to have replaced; otherwise an empty text. */
function replacedHost({ req }: RequestView, host: string): string {
  const origin = req.header('Origin')
  if (origin === undefined || isHost(origin, host) || req.header('Sec-Fetch-Site') === 'cross-site')
    return ''
  const shown = [origin, host].map((each) => each.slice(0, SHOWN_HOST))
  return ` Its page has the origin ${shown[0]}, and the request has the host ${shown[1]}. ${PROXY_ADVICE}`
}

/**
 * Returns whether neither `Origin` nor `Sec-Fetch-Site` names another origin. A missing header
 * passes, and so does `Sec-Fetch-Site: none`, when a user has typed the address.
 */
function isSameOrigin(
  { req }: RequestView,
  host: string,
  publicOrigin: string | undefined,
): boolean {
  const origin = req.header('Origin')
  const site = req.header('Sec-Fetch-Site')
  return (
    (site === undefined || site === 'same-origin' || site === 'none') &&
    (origin === undefined || origin === publicOrigin || isHost(origin, host))
  )
}

/**
 * Returns whether an origin has the host that the request addressed. The scheme is ignored because
 * a proxy may have changed it.
 */
function isHost(origin: string, host: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase()
}
