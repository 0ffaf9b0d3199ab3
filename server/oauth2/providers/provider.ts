import type { Identity, ProviderTokens } from './identity.ts'
import type { CallbackForm } from './provider-config.ts'

/** What the provider is asked for (RFC 6749 §4.1.1, RFC 7636 §4.3). */
export interface AuthorizationRequest {
  /** Under which the person's browser reaches this server. */
  readonly origin: string
  readonly redirectUri: string
  readonly state: string
  /** By S256. */
  readonly challenge: string
  readonly nonce: string
}

/** What came back, and what it has to fit to. */
export interface AuthorizationResponse {
  readonly code: string
  /** RFC 9207. */
  readonly iss: string | undefined
  /** What the token endpoint is told as `redirect_uri`. */
  readonly exchangeUri: string
  readonly verifier: string
  readonly nonce: string
}

/** A provider that people sign in with. */
export interface Provider {
  readonly name: string
  readonly label: string
  readonly form: CallbackForm
  /**
   * The URL to send the person to.
   *
   * @throws Failure `unavailable` where a provider that is known by its issuer does not answer.
   */
  authorize(request: AuthorizationRequest): Promise<string>
  /**
   * Exchanges the code and asks who it is. `iss` is checked before anything is sent, an ID token in
   * full.
   *
   * @throws Failure `bad-parameter` where the provider refuses the code, or the answer is another
   * provider's or names nobody; `unavailable` where the provider does not answer as it should.
   */
  complete(response: AuthorizationResponse): Promise<Identity>
  /**
   * New tokens for a refresh token (RFC 6749 §6).
   *
   * @throws Failure like {@link complete}
   */
  refresh(refreshToken: string): Promise<ProviderTokens>
}

/** What providers are made with. */
export interface ProviderDeps {
  /** Tells ms since 1970. */
  readonly now: () => number
}
