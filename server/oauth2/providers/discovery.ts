import * as oauth from 'oauth4webapi'

/** Metadata of an issuer, fetched on demand. */
export interface Discovery {
  /**
   * Returns the metadata. After an error, the next call sends a new request.
   *
   * @param http options of the request, if this call sends it.
   * @throws the errors of `oauth4webapi`
   */
  read(http: oauth.DiscoveryRequestOptions): Promise<oauth.AuthorizationServer>
}

/** How long metadata is cached, ms: one hour. */
const CACHED_FOR = 60 * 60 * 1000

/**
 * Creates the {@link Discovery} of an issuer (OpenID Connect Discovery 1.0 §4). The first call of
 * `read` sends the request; concurrent calls share it. Errors are not cached. If discovery fails, it
 * is tried again with a trailing slash added to the issuer or removed from it.
 *
 * @param otherHttp options of the second request.
 */
export function createDiscovery(
  issuer: string,
  otherHttp: oauth.DiscoveryRequestOptions,
  now: () => number,
): Discovery {
  let cached: { until: number; readonly metadata: Promise<oauth.AuthorizationServer> } | undefined
  const discover = async (url: URL, http: oauth.DiscoveryRequestOptions) =>
    oauth.processDiscoveryResponse(
      url,
      await oauth.discoveryRequest(url, { ...http, algorithm: 'oidc' }),
    )
  const fetchMetadata = async (http: oauth.DiscoveryRequestOptions) => {
    try {
      return await discover(new URL(issuer), http)
    } catch (error) {
      // Issuers are compared character by character, and a missing or extra slash is a common
      // mistake.
      const other = issuer.endsWith('/') ? issuer.slice(0, -1) : `${issuer}/`
      if (new URL(other).href === new URL(issuer).href) throw error
      return discover(new URL(other), otherHttp).catch(() => {
        throw error
      })
    }
  }
  return {
    read(http) {
      if (cached === undefined || cached.until <= now()) {
        const metadata = fetchMetadata(http)
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
