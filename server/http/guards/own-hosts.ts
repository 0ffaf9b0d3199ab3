/** Returns whether a host belongs to this server. */
type IsOwnHost = (host: string) => boolean

/** The host names of this server, besides loopback names and IP addresses. */
export interface OwnHosts {
  readonly has: IsOwnHost
  /** Adds hosts that can change while the server runs, such as those of endpoints. */
  add(isOwn: IsOwnHost): void
}

/** Returns the hosts of a server: that of the public URL, until others are added. */
export function createOwnHosts(publicOrigin: string | undefined): OwnHosts {
  const publicHost = publicOrigin && new URL(publicOrigin).hostname
  const sources: IsOwnHost[] = [(host) => host === publicHost]
  return {
    has: (host) => sources.some((isOwn) => isOwn(host)),
    add(isOwn) {
      sources.push(isOwn)
    },
  }
}
