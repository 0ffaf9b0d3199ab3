import type { SignIn } from '../../access/sessions.ts'
import type { CallbackForm } from '../../contract/access/provider.ts'

/** Values of an authorization request (RFC 6749 §4.1.1, RFC 7636 §4.3). */
export interface AuthorizationRequest {
  /** Origin at which the browser reaches this server. */
  readonly origin: string
  readonly redirectUri: string
  readonly state: string
  /** PKCE challenge by method S256. */
  readonly challenge: string
  readonly nonce: string
  readonly trace?: Trace | undefined
}

/** Called with each request to the provider that a test shows, such as `GET <url>: 200`. */
export type Trace = (request: string) => void

/** Values of an authorization response, and the stored values it must match. */
export interface AuthorizationResponse {
  readonly code: string
  /** Issuer that the response names (RFC 9207). */
  readonly iss: string | undefined
  /** `redirect_uri` of the token request. */
  readonly exchangeUri: string
  readonly verifier: string
  readonly nonce: string
  readonly trace?: Trace | undefined
}

/** A provider for sign-in. */
export interface Provider {
  readonly name: string
  readonly label: string
  readonly form: CallbackForm
  /** Revision of a managed provider. */
  readonly revision?: number
  /**
   * Returns the URL to redirect the person to.
   *
   * @throws Failure `unavailable` if discovery of the issuer fails.
   */
  authorize(request: AuthorizationRequest): Promise<string>
  /**
   * Exchanges the code and identifies the person. Checks `iss` before it sends a request, and
   * validates an ID token in full.
   *
   * @throws Failure `bad-parameter` if the provider rejects the code or the response comes from
   *   another provider; `unavailable` if the provider does not respond, or its response is not
   *   usable.
   */
  complete(response: AuthorizationResponse): Promise<SignIn>
}

export interface ProviderDeps {
  /** Returns the time, ms since 1970. */
  readonly now: () => number
}
