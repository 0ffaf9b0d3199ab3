import { createRangeMatch } from '../ip-ranges.ts'
import { type ClientOf, createClientOf } from './guards/client-address.ts'
import { createSessionCookie, type SessionCookie } from './guards/session-cookie.ts'
import type { Reserve, ResponseMemory } from './output/response-memory.ts'
import { createSendList, type SendList } from './output/send-list.ts'

export interface HttpModuleDeps {
  /** The configured public origin of the server. */
  readonly publicOrigin: string | undefined
  /** Addresses and CIDR ranges of proxies whose forwarded headers are trusted. */
  readonly trustedProxies: readonly string[]
  /** The id of this installation. */
  readonly instance: string
  /** Maximum lifetime of a session, ms. */
  readonly sessionLifetime: number
  readonly responses: ResponseMemory
  /** Awaited between two steps of a long response, so that other requests can run. */
}

/** The settings and the functions that the routes of all nouns share. */
export interface HttpModule extends AsyncDisposable {
  readonly publicOrigin: string | undefined
  readonly hosts: OwnHosts
  readonly clientOf: ClientOf
  /** Returns whether an address is that of a proxy whose forwarded headers are trusted. */
  readonly isTrustedProxy: (address: string) => boolean
  readonly cookie: SessionCookie
  readonly responses: ResponseMemory
  readonly reserve: Reserve
  readonly sendList: SendList
}

export function createHttpModule(deps: HttpModuleDeps): HttpModule {
  const { publicOrigin, responses } = deps
  const reserve: Reserve = (c, bytes) => responses.reserve(c.env.outgoing, bytes)
  return {
    publicOrigin,
    hosts: createOwnHosts(publicOrigin),
    clientOf: createClientOf(deps.trustedProxies),
    isTrustedProxy: createRangeMatch(deps.trustedProxies),
    cookie: createSessionCookie(deps.instance, deps.sessionLifetime),
    responses,
    reserve,
    sendList: createSendList(reserve),
    async [Symbol.asyncDispose]() {},
  }
}

/** Returns whether a host belongs to this server. */
type IsOwnHost = (host: string) => boolean

/** The host names of this server, besides loopback names and IP addresses. */
interface OwnHosts {
  readonly has: IsOwnHost
  /** Adds hosts that can change while the server runs, such as those of endpoints. */
  add(isOwn: IsOwnHost): void
}

/** Returns the hosts of a server: that of the public URL, until others are added. */
function createOwnHosts(publicOrigin: string | undefined): OwnHosts {
  const publicHost = publicOrigin && new URL(publicOrigin).hostname
  const sources: IsOwnHost[] = [(host) => host === publicHost]
  return {
    has: (host) => sources.some((isOwn) => isOwn(host)),
    add(isOwn) {
      sources.push(isOwn)
    },
  }
}
