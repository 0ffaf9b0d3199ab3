import * as oauth from 'oauth4webapi'

/** What an issuer says of itself, asked for when it is needed. */
export interface Discovery {
  /** @throws what `oauth4webapi` throws; the next call asks again. */
  read(): Promise<oauth.AuthorizationServer>
}

/** How long an answer counts, ms: an hour. */
const KEPT = 60 * 60 * 1000

/**
 * Discovers an issuer (OpenID Connect Discovery 1.0 §4) at the first call. Calls at once share one
 * request; a failed one is not remembered. If discovery fails, the issuer is tried with a trailing
 * slash, or without the one it has.
 */
export function createDiscovery(
  issuer: string,
  http: oauth.DiscoveryRequestOptions,
  now: () => number,
): Discovery {
  let known: { until: number; readonly metadata: Promise<oauth.AuthorizationServer> } | undefined
  const discover = async (url: URL) =>
    oauth.processDiscoveryResponse(
      url,
      await oauth.discoveryRequest(url, { ...http, algorithm: 'oidc' }),
    )
  const ask = async () => {
    try {
      return await discover(new URL(issuer))
    } catch (error) {
      // Issuers are compared character by character, and people leave out or add the last slash.
      const other = issuer.endsWith('/') ? issuer.slice(0, -1) : `${issuer}/`
      if (new URL(other).href === new URL(issuer).href) throw error
      return discover(new URL(other)).catch(() => {
        throw error
      })
    }
  }
  return {
    read() {
      if (known === undefined || known.until <= now()) {
        const metadata = ask()
        const made = { until: now() + KEPT, metadata }
        known = made
        metadata.catch(() => {
          made.until = Number.NEGATIVE_INFINITY
        })
      }
      return known.metadata
    },
  }
}
