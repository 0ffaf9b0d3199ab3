import type { Context } from 'hono'
import { isLoopbackHost } from '../../contract/endpoints/address.ts'
import { Failure } from '../../failure.ts'
import type { AppEnv } from '../env.ts'
import { type ClientOf, isPlainHost } from './client-address.ts'
import { hostName } from './guard-host.ts'

/**
 * Returns the origin under which the browser reaches this server: the configured origin, or a
 * loopback name of this machine. Any other `Host` is ignored because the client chooses it.
 * Undefined if neither is known.
 */
export type OwnOrigin = (c: Context<AppEnv>) => string | undefined

export const createOwnOrigin =
  (publicOrigin: string | undefined, clientOf: ClientOf): OwnOrigin =>
  (c) => {
    const { host, secure } = clientOf(c)
    const requestOrigin = `${secure ? 'https' : 'http'}://${host.toLowerCase()}`
    const local = isLoopbackHost(hostName(host)) && isPlainHost(host) ? requestOrigin : undefined
    // An untrusted proxy may also address a loopback host. The browser's `Origin` decides.
    const isShown = local !== undefined && c.req.header('Origin') === local
    return isShown ? local : (publicOrigin ?? local)
  }

/** The URL at which the browser reaches the server is unknown. */
export class NoOrigin extends Failure {
  constructor() {
    super(
      'bad-parameter',
      'This server has no public URL, so the provider could not send you ' +
        'back. The operator of this server must set --public-url (GATEHOUSE_PUBLIC_URL).',
    )
  }
}
