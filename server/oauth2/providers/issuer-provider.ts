import * as oauth from 'oauth4webapi'
import type { SignIn } from '../../access/sessions.ts'
import { Failure } from '../../failure.ts'
import { limitedFetch, redirectedFetch } from '../../limited-fetch.ts'
import { createDiscovery } from './discovery.ts'
import { roleOfGroups } from './group-roles.ts'
import { isSubject, nameOf } from './identity.ts'
import { normalizeTokenResponse } from './normalize-token-response.ts'
import type { AuthorizationResponse, Provider, ProviderDeps, Trace } from './provider.ts'
import type { ProviderConfig } from './provider-config.ts'
import { type ProviderRequest, providerFailure, withoutQuery } from './provider-failure.ts'

/** Overrides for the local provider. */
export interface IssuerOptions {
  /** Replaces the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** Replaces the authorization endpoint from discovery. */
  readonly authEndpoint?: (origin: string) => string
  /**
   * Adds or replaces parameters of the authorization request. Default: `scope` is `openid profile`.
   */
  readonly parameters?: Readonly<Record<string, string>>
  /** Replaces fields of the sign-in that the ID token's claims give. */
  readonly identify?: (claims: oauth.IDToken) => Partial<SignIn>
}

/**
 * Creates an OpenID Connect provider from its issuer. Discovery runs at the first sign-in (OpenID
 * Connect Discovery 1.0 §4). ID tokens are validated in full, including the signature (OpenID
 * Connect Core 1.0 §3.1.3.7).
 */
export function createIssuerProvider(
  config: Pick<
    Extract<ProviderConfig, { kind: 'issuer' }>,
    'label' | 'form' | 'issuer' | 'clientId' | 'clientSecret' | 'groups'
  > & { readonly name: string },
  { now }: ProviderDeps,
  options: IssuerOptions = {},
): Provider {
  const { name, label, form, issuer, clientId, clientSecret, groups } = config
  const customFetch = redirectedFetch(limitedFetch(options.fetch ?? fetch))
  const http = {
    [oauth.customFetch]: customFetch,
    // The configuration accepts http only for loopback addresses.
    [oauth.allowInsecureRequests]: issuer.startsWith('http:'),
    signal: () => AbortSignal.timeout(10_000),
  }
  /** Returns the options of a request. Only the last request is recorded. */
  const recording = (last: ProviderRequest, trace: Trace = () => {}): typeof http => ({
    ...http,
    [oauth.customFetch]: async (url, init) => {
      Object.assign(last, { url, status: undefined })
      const response = await customFetch(url, init)
      last.status = response.status
      trace(`${init.method} ${withoutQuery(url)}: ${response.status}`)
      return response
    },
  })
  const server = createDiscovery(issuer, http, now)
  const client: oauth.Client = { client_id: clientId, [oauth.clockTolerance]: 30 }

  // Discovery lists the methods that the server supports, not the one it accepts from this client.
  let accepted: AuthMethod | undefined
  /**
   * Sends a token request. Tries the supported client authentication methods until one is accepted,
   * beginning with the one that was accepted last. The provider's registration may change.
   */
  async function authenticated<T>(
    as: oauth.AuthorizationServer,
    ask: (auth: oauth.ClientAuth) => Promise<T>,
  ): Promise<T> {
    const methods = authMethods(as).sort((a, b) => Number(b === accepted) - Number(a === accepted))
    for (const [index, each] of methods.entries()) {
      try {
        const result = await ask(AUTH[each](clientSecret))
        accepted = each
        return result
      } catch (error) {
        if (index === methods.length - 1 || !isInvalidClient(error)) throw error
      }
    }
    throw new Failure('unavailable', `${label} does not use a client secret.`)
  }

  async function exchange(response: AuthorizationResponse, http: Http): Promise<SignIn> {
    const as = await server.read(http)
    const { code, iss, exchangeUri, verifier, nonce } = response
    const parameters = checkIssuer(as, client, { code, iss }, label)
    const [tokens, claims] = await authenticated(as, async (auth) => {
      const sent = await normalizeTokenResponse(
        await oauth.authorizationCodeGrantRequest(
          as,
          client,
          auth,
          parameters,
          exchangeUri,
          verifier,
          http,
        ),
      )
      const options = { expectedNonce: nonce, requireIdToken: true }
      const tokens = await oauth.processAuthorizationCodeResponse(as, client, sent, options)
      // TLS could replace the signature check (OpenID Connect Core 1.0 §3.1.3.7, item 6), but the
      // issuer may use http.
      await validateSignature(as, sent, http)
      return [tokens, oauth.getValidatedIdTokenClaims(tokens) as oauth.IDToken] as const
    })
    if (!isSubject(claims.sub)) {
      throw new Failure(
        'unavailable',
        `${label} returned no valid sub from ${as.token_endpoint}. It must have 1 to 255 printable ASCII characters.`,
      )
    }
    // The claims of the ID token have priority over those of the user endpoint.
    const isUserNeeded = groups !== undefined && !Object.hasOwn(claims, groups.claim)
    const user =
      isUserNeeded || nameOf(claims) === null
        ? await readUser(as, tokens.access_token, claims.sub, http).catch((error: unknown) => {
            if (isUserNeeded) throw error
            // The ID token has identified the person. A missing name must not prevent the sign-in.
            return null
          })
        : null
    return {
      provider: name,
      // The issuer's own spelling: the configured one may differ by a trailing slash.
      issuer: as.issuer,
      subject: claims.sub,
      name: nameOf(claims) ?? nameOf(user),
      ...(groups && { groupRole: roleOfGroups(isUserNeeded ? user : claims, groups) }),
      accessToken: tokens.access_token,
      operatorKey: null,
      ...options.identify?.(claims),
    }
  }

  /**
   * Returns the claims of the user endpoint, or null if the provider has none.
   *
   * @throws if the request fails or the response has another `sub` (OpenID Connect Core 1.0 §5.3.2).
   */
  async function readUser(
    as: oauth.AuthorizationServer,
    accessToken: string,
    subject: string,
    http: Http,
  ): Promise<oauth.UserInfoResponse | null> {
    if (as.userinfo_endpoint === undefined) return null
    const sent = await oauth.userInfoRequest(as, client, accessToken, http)
    return oauth.processUserInfoResponse(as, client, subject, sent)
  }

  /** Runs an operation; its error names the provider and contains no secrets. */
  const callProvider = async <T>(
    operation: (http: Http) => Promise<T>,
    callback: string,
    trace: Trace | undefined,
    ...sent: readonly string[]
  ): Promise<T> => {
    const last: ProviderRequest = { url: issuer }
    try {
      return await operation(recording(last, trace))
    } catch (error) {
      const secrets = [clientSecret, basicCredentials(clientId, clientSecret), ...sent]
      throw providerFailure(config, error, last, callback, secrets)
    }
  }

  return {
    name,
    label,
    form,
    authorize: ({ origin, redirectUri, state, challenge, nonce, trace }) =>
      callProvider(
        async (http) => {
          const as = options.authEndpoint === undefined ? await server.read(http) : undefined
          const endpoint = options.authEndpoint?.(origin) ?? as?.authorization_endpoint
          if (endpoint === undefined) throw new Error('no authorization_endpoint was discovered')
          const url = new URL(endpoint)
          // Some providers return groups only with the scope of this name, others reject an unknown one.
          const scope = as?.scopes_supported?.find((each) => each === groups?.claim)
          const parameters = {
            scope: scope === undefined ? 'openid profile' : `openid profile ${scope}`,
            ...options.parameters,
            client_id: clientId,
            redirect_uri: redirectUri,
            response_type: 'code',
            state,
            nonce,
            code_challenge: challenge,
            code_challenge_method: 'S256',
          }
          for (const [key, value] of Object.entries(parameters)) url.searchParams.set(key, value)
          return url.href
        },
        redirectUri,
        trace,
      ),
    complete: (response) => {
      const { code, exchangeUri, verifier, trace } = response
      return callProvider((http) => exchange(response, http), exchangeUri, trace, code, verifier)
    },
  }
}

/** Options of the requests to the issuer. */
type Http = oauth.DiscoveryRequestOptions & oauth.TokenEndpointRequestOptions

/**
 * Validates the signature of the ID token in a response (OpenID Connect Core 1.0 §3.1.3.7).
 * `oauth4webapi` keeps keys for a minute before it looks for new ones. If the token does not fit
 * them, they are read again, once per token response.
 */
async function validateSignature(
  as: oauth.AuthorizationServer,
  sent: Response,
  http: Http,
): Promise<void> {
  try {
    await oauth.validateApplicationLevelSignature(as, sent, http)
  } catch (error) {
    const code = error instanceof oauth.OperationProcessingError ? error.code : undefined
    if (code !== oauth.KEY_SELECTION && code !== oauth.INVALID_RESPONSE) throw error
    // The library keeps keys by the object of the metadata.
    await oauth.validateApplicationLevelSignature({ ...as }, sent, http)
  }
}

/**
 * Authenticates the client by HTTP Basic. Id and secret are encoded as
 * `application/x-www-form-urlencoded` (RFC 6749 §2.3.1), which keeps `-`, `.` and `_`. oauth4webapi
 * encodes these too, but some providers don't decode them.
 */
const clientSecretBasic =
  (secret: string): oauth.ClientAuth =>
  (_as, { client_id }, _body, headers) => {
    headers.set('Authorization', `Basic ${basicCredentials(client_id, secret)}`)
  }

const basicCredentials = (id: string, secret: string) =>
  btoa(`${formEncode(id)}:${formEncode(secret)}`)

const formEncode = (text: string) => new URLSearchParams([['', text]]).toString().slice(1)

const AUTH = {
  client_secret_basic: clientSecretBasic,
  client_secret_post: oauth.ClientSecretPost,
}

type AuthMethod = keyof typeof AUTH

/**
 * Returns the supported authentication methods in order of preference. The default of discovery is
 * Basic (OpenID Connect Discovery 1.0 §3).
 */
function authMethods(as: oauth.AuthorizationServer): AuthMethod[] {
  const supported = as.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  return (['client_secret_basic', 'client_secret_post'] as const).filter((each) =>
    supported.includes(each),
  )
}

/** Servers reject a client with an error in the body or a challenge (RFC 6749 §5.2). */
const isInvalidClient = (error: unknown): boolean =>
  (error instanceof oauth.ResponseBodyError &&
    (error.error === 'invalid_client' || error.error === 'unauthorized_client')) ||
  error instanceof oauth.WWWAuthenticateChallengeError

/**
 * Returns the validated parameters of an authorization response. Checks `iss` if it is present or
 * if the issuer's metadata announces it (RFC 9207 §2.4). The caller has already checked `state`.
 *
 * @throws Failure `bad-parameter`
 */
function checkIssuer(
  as: oauth.AuthorizationServer,
  client: oauth.Client,
  given: { readonly code: string; readonly iss: string | undefined },
  label: string,
): URLSearchParams {
  const parameters = new URLSearchParams({ code: given.code })
  if (given.iss !== undefined) parameters.set('iss', given.iss)
  try {
    return oauth.validateAuthResponse(as, client, parameters, oauth.expectNoState)
  } catch (cause) {
    throw new Failure('bad-parameter', `This response does not come from ${label}.`, {
      cause,
      field: 'iss',
    })
  }
}
