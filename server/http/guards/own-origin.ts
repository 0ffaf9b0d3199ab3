import type { Context } from 'hono'
import { isLoopbackHost } from '../contract/address.ts'
import { Failure } from '../failure.ts'
import { type ClientOf, isPlainHost } from './client.ts'
import type { AppEnv } from './env.ts'
import { hostName } from './guard-host.ts'

/**
 * Under which origin the person's browser reaches this server: what was configured, or a loopback
 * name of this machine. No other Host counts: whoever sends the request chooses it. Undefined where
 * neither is known.
 */
export type OwnOrigin = (c: Context<AppEnv>) => string | undefined

/** Makes an {@link OwnOrigin}. */
export const createOwnOrigin =
  (publicOrigin: string | undefined, clientOf: ClientOf): OwnOrigin =>
  (c) => {
    const { host, secure } = clientOf(c)
    const asked = `${secure ? 'https' : 'http'}://${host.toLowerCase()}`
    const local = isLoopbackHost(hostName(host)) && isPlainHost(host) ? asked : undefined
    // A proxy that is not trusted may ask for a loopback host, too; a browser says what it shows.
    const isShown = local !== undefined && c.req.header('Origin') === local
    return isShown ? local : (publicOrigin ?? local)
  }

/**
 * Refuses a form that another web page sends: pages of ours send theirs from our own origin. What
 * says neither where it comes from is no browser, and is left alone.
 *
 * @throws Failure `forbidden`
 */
export function guardForm(
  c: Context<AppEnv>,
  publicOrigin: string | undefined,
  clientOf: ClientOf,
) {
  const origin = c.req.header('Origin')
  const site = c.req.header('Sec-Fetch-Site')
  const { host } = clientOf(c)
  const ours =
    origin === undefined ||
    origin === publicOrigin ||
    (URL.canParse(origin) && new URL(origin).host === host.toLowerCase())
  if (ours && (site === undefined || site === 'same-origin' || site === 'none')) return
  throw new Failure('forbidden', 'Another web page has sent this form. Nothing was done.')
}
