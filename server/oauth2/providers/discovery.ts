import * as oauth from 'oauth4webapi'

/** Metadata of an issuer, fetched on demand. */
export interface Discovery {
  /**
   * Returns the metadata. After an error, the next call sends a new request.
   *
   * @throws the errors of `oauth4webapi`
   */
  read(): Promise<oauth.AuthorizationServer>
}

/** How long metadata is cached, ms: one hour. */
const CACHED_FOR = 60 * 60 * 1000

/**
 * Creates the {@link Discovery} of an issuer (OpenID Connect Discovery 1.0 §4). The first call of
 * `read` sends the request; concurrent calls share it. Errors are not cached. If discovery fails, it
 * is tried again with a trailing slash added to the issuer or removed from it.
 */
export function createDiscovery(
  issuer: string,
  http: oauth.DiscoveryRequestOptions,
  now: () => number,
): Discovery {
  let cached: { until: number; readonly metadata: Promise<oauth.AuthorizationServer> } | undefined
  const discover = async (url: URL) =>
    oauth.processDiscoveryResponse(
      url,
      await oauth.discoveryRequest(url, { ...http, algorithm: 'oidc' }),
    )
  const fetchMetadata = async () => {
    try {
      return await discover(new URL(issuer))
    } catch (error) {
      // Issuers are compared character by character, and a missing or extra slash is a common
      // mistake.
      const other = issuer.endsWith('/') ? issuer.slice(0, -1) : `${issuer}/`
      if (new URL(other).href === new URL(issuer).href) throw error
      return discover(new URL(other)).catch(() => {
        throw error
      })
    }
  }
  return {
    read() {
      if (cached === undefined || cached.until <= now()) {
        const metadata = fetchMetadata()
        const entry = { until: now() + CACHED_FOR, metadata }
        cached = entry
        metadata.catch(() => {
          entry.until = Number.NEGATIVE_INFINITY
        })
      }
      return cached.metadata
    },
  }
}
