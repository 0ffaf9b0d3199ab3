// One self-contained file: it has no imports and needs only the APIs of Node.js 20. It is published
// as `@gatehouse/server/oauth2` and as `@gatehouse/oauth2-client`.

/** Client authentication method at the token endpoint (RFC 6749 §2.3.1). */
export type TokenEndpointAuthMethod = 'client_secret_post' | 'client_secret_basic'

/** Settings of a provider, and the application's registration at it. */
export interface OAuth2ClientOptions {
  /** Authorization endpoint (RFC 6749 §3.1). Its query parameters are kept. */
  readonly authEndpoint: string
  /** Token endpoint (RFC 6749 §3.2). */
  readonly tokenEndpoint: string
  /** Endpoint for refreshing access tokens (RFC 6749 §6). Default: `tokenEndpoint`. */
  readonly refreshEndpoint?: string | null | undefined
  /** Endpoint that returns the person an access token belongs to. Default: none. */
  readonly activeUserEndpoint?: string | null | undefined
  /** The application's identifier at the provider. */
  readonly clientId: string
  /** The application's secret at the provider. */
  readonly clientSecret: string
  /**
   * Default: `client_secret_post`, which every known provider accepts, although RFC 6749 §2.3.1
   * requires servers to support only `client_secret_basic`.
   */
  readonly tokenEndpointAuthMethod?: TokenEndpointAuthMethod | undefined
  /** Timeout of a request including its response body, in milliseconds. Default: 10,000. */
  readonly timeout?: number | undefined
  /** Maximum size of a decompressed response body, in bytes. Default: 1 MiB. */
  readonly maxBytes?: number | undefined
}

/**
 * Additional parameters of a request. Parameters that are `null` or `undefined` are omitted.
 * `client_id` and `client_secret` are ignored: the client takes them from its options.
 */
export type OAuth2Parameters = Readonly<
  Record<string, string | number | boolean | null | undefined>
>

/** A parsed success response of the token endpoint (RFC 6749 §5.1). */
export interface TokenResponse {
  access_token: string
  token_type?: string
  /** Seconds. A string if the provider responded form-encoded. */
  expires_in?: number | string
  refresh_token?: string
  scope?: string
  [field: string]: unknown
}

/** A parsed response of the user endpoint. Integers beyond 2^53 are strings. */
export type ActiveUser = Record<string, unknown>

/** A client of one provider. Its functions don't use `this`. */
export interface OAuth2Client {
  /**
   * Returns the URL to redirect the person to (RFC 6749 §4.1.1).
   *
   * The URL is `authEndpoint` with its query parameters, followed by `client_id`, `redirect_uri`,
   * `response_type` and `args`. Each parameter occurs once (RFC 6749 §3.1): `client_id` and
   * `redirect_uri` take precedence over `args`, and `args` over `authEndpoint`.
   *
   * @param args additional parameters (`state`, `scope`, `code_challenge`…); `response_type`
   *   defaults to `code`
   * @throws {@link OAuth2Error} `invalid-argument`
   */
  getAuthUrl(redirect_uri: string, args?: OAuth2Parameters): string
  /**
   * Exchanges a grant code for an access token (RFC 6749 §4.1.3).
   *
   * @param code the code that the provider passed to the callback
   * @param redirect_uri the callback URL for which the code was issued
   * @param args additional parameters (`code_verifier`…); `grant_type` defaults to
   *   `authorization_code`
   * @returns the parsed response, JSON or form-encoded
   * @throws {@link OAuth2Error} (rejects) if the response has no access token; with any {@link
   *   OAuth2ErrorCode} except `invalid-options`
   */
  exchangeGrantToken(
    code: string,
    redirect_uri: string,
    args?: OAuth2Parameters,
  ): Promise<TokenResponse>
  /**
   * Fetches the person an access token belongs to. Sends the token as Bearer (RFC 6750 §2.1).
   *
   * @returns the parsed JSON response, or `null` without `activeUserEndpoint`
   * @throws {@link OAuth2Error} (rejects) like `exchangeGrantToken`, except `no-access-token`
   */
  fetchActiveUser(access_token: string): Promise<ActiveUser | null>
  /**
   * Exchanges a refresh token for a new access token (RFC 6749 §6), at `refreshEndpoint` or
   * `tokenEndpoint`. If the response has a new refresh token, it replaces the old one.
   *
   * @param args additional parameters (`scope`…)
   * @throws {@link OAuth2Error} (rejects) like `exchangeGrantToken`
   */
  refresh(refresh_token: string, args?: OAuth2Parameters): Promise<TokenResponse>
}

/**
 * Reason of an {@link OAuth2Error}.
 *
 * | code | reason |
 * | --- | --- |
 * | `invalid-options` | an option of `createOAuth2Client` is missing or invalid |
 * | `invalid-argument` | an argument of an operation is missing or invalid |
 * | `timeout` | no complete response within `timeout` |
 * | `network` | the connection failed or broke; see `cause` |
 * | `redirect` | the endpoint responded with a redirect, which the client never follows |
 * | `too-large` | the response exceeds `maxBytes` |
 * | `provider-error` | the response contains `error` (RFC 6749 §5.2), with any status; `cause` is a {@link ProviderReport} |
 * | `http-status` | a status other than 2xx without `error` in the response |
 * | `empty-body` | the response has no body |
 * | `unparsable` | the response cannot be parsed |
 * | `no-access-token` | the token endpoint's response has no `access_token` (RFC 6749 §5.1) |
 */
export type OAuth2ErrorCode =
  | 'invalid-options'
  | 'invalid-argument'
  | 'timeout'
  | 'network'
  | 'redirect'
  | 'too-large'
  | 'provider-error'
  | 'http-status'
  | 'empty-body'
  | 'unparsable'
  | 'no-access-token'

/**
 * Error reported by the provider (RFC 6749 §5.2): redacted, without control characters, truncated.
 */
export interface ProviderReport {
  readonly error: string
  readonly error_description?: string
}

/**
 * The only error class of this module. Its message, cause and stack never contain the client id,
 * the client secret, a code or a token, even if the provider repeats them in its response.
 */
export class OAuth2Error extends Error {
  override readonly name = 'OAuth2Error'
  readonly code: OAuth2ErrorCode
  /** HTTP status of the provider's response; `undefined` without a response. */
  readonly status: number | undefined

  constructor(
    code: OAuth2ErrorCode,
    message: string,
    options: { readonly status?: number | undefined; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.status = options.status
  }
}

/**
 * Creates a client of an OAuth 2.0 provider.
 *
 * @example
 * const client = createOAuth2Client({
 *   authEndpoint: 'https://github.com/login/oauth/authorize?scope=user',
 *   tokenEndpoint: 'https://github.com/login/oauth/access_token',
 *   activeUserEndpoint: 'https://api.github.com/user',
 *   clientId: '<CLIENT_ID>',
 *   clientSecret: '<CLIENT_SECRET>',
 * })
 * const url = client.getAuthUrl('https://example.com/callback', { state })
 * // …the provider redirects the person back with a code…
 * const { access_token } = await client.exchangeGrantToken(code, 'https://example.com/callback')
 * const user = await client.fetchActiveUser(access_token)
 *
 * @param options read once. URLs are absolute http or https URLs without fragment and credentials.
 *   Use http only for providers on the same machine or network: RFC 6749 §3.1 and §3.2 require TLS
 * @throws {@link OAuth2Error} `invalid-options`, naming all invalid options
 */
export function createOAuth2Client(options: OAuth2ClientOptions): OAuth2Client {
  const settings = readOptions(options)
  const { clientId, clientSecret } = settings

  const requestToken = async (
    endpoint: EndpointName,
    url: string,
    fixed: Readonly<Record<string, string>>,
    defaults: Readonly<Record<string, string>>,
    args: OAuth2Parameters | undefined,
  ): Promise<TokenResponse> => {
    for (const [name, value] of Object.entries(fixed)) requireText(name, value)
    const form = collect(fixed, defaults, args)
    const headers: Record<string, string> = { 'Content-Type': FORM }
    if (settings.tokenEndpointAuthMethod === 'client_secret_basic') {
      headers.Authorization = `Basic ${basicCredentials(clientId, clientSecret)}`
    } else {
      form.set('client_id', clientId)
      form.set('client_secret', clientSecret)
    }
    const hide = redactor(settings, [fixed.code, fixed.refresh_token, form.get('code_verifier')])
    const body = new URLSearchParams([...form]).toString()
    const response = await send(endpoint, url, { method: 'POST', headers, body }, settings, hide)
    return readTokenResponse(endpoint, response, hide)
  }

  return Object.freeze<OAuth2Client>({
    getAuthUrl(redirect_uri, args) {
      requireText('redirect_uri', redirect_uri)
      const fixed = { client_id: clientId, redirect_uri }
      return appendQuery(settings.authEndpoint, collect(fixed, { response_type: 'code' }, args))
    },

    async exchangeGrantToken(code, redirect_uri, args) {
      const defaults = { grant_type: 'authorization_code' }
      const fixed = { code, redirect_uri }
      return requestToken('token endpoint', settings.tokenEndpoint, fixed, defaults, args)
    },

    async fetchActiveUser(access_token) {
      const { activeUserEndpoint: url } = settings
      if (url === undefined) return null
      requireText('access_token', access_token)
      // `fetch` would quote an invalid header value in its error.
      if (!/^[\x21-\x7e]+$/.test(access_token)) {
        throw new OAuth2Error('invalid-argument', 'access_token contains invalid characters')
      }
      const hide = redactor(settings, [access_token])
      const headers = { Authorization: `Bearer ${access_token}` }
      const response = await send('user endpoint', url, { method: 'GET', headers }, settings, hide)
      return checkResponse('user endpoint', response, parseJson(response.body), hide)
    },

    async refresh(refresh_token, args) {
      const url = settings.refreshEndpoint ?? settings.tokenEndpoint
      const fixed = { grant_type: 'refresh_token', refresh_token }
      return requestToken('refresh endpoint', url, fixed, {}, args)
    },
  })
}

export default createOAuth2Client

/**
 * Name of an endpoint in messages. Messages omit the URL, because its query may contain secrets.
 */
type EndpointName = 'token endpoint' | 'refresh endpoint' | 'user endpoint'

type Settings = ReturnType<typeof readOptions>

type Redact = (text: string) => string

interface EndpointResponse {
  readonly status: number
  readonly contentType: string
  /** Trimmed. */
  readonly body: string
}

const FORM = 'application/x-www-form-urlencoded'

// GitHub rejects requests without a User-Agent.
const USER_AGENT = 'Gatehouse'

function readOptions(options: OAuth2ClientOptions) {
  const errors: string[] = []
  const given: Partial<Record<keyof OAuth2ClientOptions, unknown>> = { ...options }

  const text = (name: keyof OAuth2ClientOptions): string => {
    const value = given[name] ?? undefined
    if (typeof value === 'string' && value !== '') return value
    errors.push(value === undefined ? `${name} is missing` : `${name} must be a non-empty string`)
    return ''
  }
  const url = (name: keyof OAuth2ClientOptions): string => {
    const value = text(name)
    if (value !== '' && !isEndpoint(value)) {
      errors.push(
        `${name} must be a fully-qualified http(s) URL without credentials and without fragment`,
      )
    }
    return value
  }
  const optionalUrl = (name: keyof OAuth2ClientOptions): string | undefined =>
    given[name] === undefined || given[name] === null ? undefined : url(name)
  const positive = (name: keyof OAuth2ClientOptions, fallback: number): number => {
    const value = given[name] ?? fallback
    // A longer timer would fire immediately.
    if (Number.isInteger(value) && Number(value) > 0 && Number(value) < 2 ** 31) {
      return Number(value)
    }
    errors.push(`${name} must be a whole number from 1 to 2^31 - 1`)
    return fallback
  }
  const authMethod = (): TokenEndpointAuthMethod => {
    const value = given.tokenEndpointAuthMethod ?? 'client_secret_post'
    if (value === 'client_secret_post' || value === 'client_secret_basic') return value
    errors.push('tokenEndpointAuthMethod must be client_secret_post or client_secret_basic')
    return 'client_secret_post'
  }

  const settings = {
    authEndpoint: url('authEndpoint'),
    tokenEndpoint: url('tokenEndpoint'),
    refreshEndpoint: optionalUrl('refreshEndpoint'),
    activeUserEndpoint: optionalUrl('activeUserEndpoint'),
    clientId: text('clientId'),
    clientSecret: text('clientSecret'),
    tokenEndpointAuthMethod: authMethod(),
    timeout: positive('timeout', 10_000),
    maxBytes: positive('maxBytes', 1_048_576),
  }
  if (errors.length > 0) {
    throw new OAuth2Error('invalid-options', `createOAuth2Client: ${errors.join('; ')}`)
  }
  return settings
}

function isEndpoint(text: string): boolean {
  // `URL` is lenient: it removes white space and completes `https:example.com`.
  if (!/^https?:\/\/[^\s#]+$/i.test(text) || !URL.canParse(text)) return false
  const { username, password } = new URL(text)
  return username === '' && password === ''
}

function requireText(name: string, value: unknown): void {
  if (typeof value === 'string' && value !== '') return
  throw new OAuth2Error('invalid-argument', `${name} must be a non-empty string`)
}

/**
 * Merges parameters so that each occurs once (RFC 6749 §3.1 and §3.2): `fixed` takes precedence
 * over `args`, and `args` over `defaults`.
 */
function collect(
  fixed: Readonly<Record<string, string>>,
  defaults: Readonly<Record<string, string>>,
  args: OAuth2Parameters | undefined,
): Map<string, string> {
  const parameters = new Map(Object.entries({ ...fixed, ...defaults }))
  for (const [name, value] of Object.entries(args ?? {})) {
    if (value === null || value === undefined) continue
    if (!['string', 'number', 'boolean'].includes(typeof value)) {
      throw new OAuth2Error('invalid-argument', 'args must contain strings, numbers or booleans')
    }
    // Otherwise getAuthUrl could put the secret into the browser's address bar.
    if (name === 'client_id' || name === 'client_secret' || Object.hasOwn(fixed, name)) continue
    parameters.set(name, String(value))
  }
  return parameters
}

/** Appends parameters to the query. The remaining query keeps its spelling. */
function appendQuery(endpoint: string, parameters: ReadonlyMap<string, string>): string {
  const url = new URL(endpoint)
  const query = url.search
    .slice(1)
    .split('&')
    .filter((part) => {
      const [name] = new URLSearchParams(part).keys()
      return name !== undefined && !parameters.has(name)
    })
  url.search = [...query, new URLSearchParams([...parameters]).toString()].join('&')
  return url.href
}

const formEncode = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1)

// Form-encode both values first (RFC 6749 §2.3.1), so that a colon in the id is not the separator.
const basicCredentials = (id: string, secret: string): string =>
  btoa(`${formEncode(id)}:${formEncode(secret)}`)

/** Sends a request and reads the whole response within the limits. Does not interpret it. */
async function send(
  endpoint: EndpointName,
  url: string,
  request: { method: string; headers: Record<string, string>; body?: string },
  limits: { readonly timeout: number; readonly maxBytes: number },
  hide: Redact,
): Promise<EndpointResponse> {
  const headers = { Accept: 'application/json', 'User-Agent': USER_AGENT, ...request.headers }
  const signal = AbortSignal.timeout(limits.timeout)
  let status: number | undefined
  try {
    const response = await fetch(url, { ...request, headers, redirect: 'manual', signal })
    status = response.status
    // Following the redirect would send the secret or the token to another server.
    if ([301, 302, 303, 307, 308].includes(status) || response.type === 'opaqueredirect') {
      await response.body?.cancel()
      throw new OAuth2Error('redirect', `the ${endpoint} responded with a redirect`, { status })
    }
    const body = await readBody(endpoint, response, limits.maxBytes)
    return { status, contentType: response.headers.get('content-type') ?? '', body: body.trim() }
  } catch (thrown) {
    if (thrown instanceof OAuth2Error) throw thrown
    if (signal.aborted) {
      const message = `the ${endpoint} did not send a complete response within ${limits.timeout} ms`
      throw new OAuth2Error('timeout', message, { status })
    }
    const cause = copyError(thrown, hide)
    throw new OAuth2Error('network', `the connection to the ${endpoint} failed`, { status, cause })
  }
}

async function readBody(
  endpoint: EndpointName,
  response: Response,
  maxBytes: number,
): Promise<string> {
  const { status } = response
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let bytes = 0
  let text = ''
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) {
      const message = `the ${endpoint} responded with more than ${maxBytes} bytes`
      throw new OAuth2Error('too-large', message, { status })
    }
    text += decode(endpoint, status, () => decoder.decode(chunk, { stream: true }))
  }
  return text + decode(endpoint, status, () => decoder.decode())
}

function decode(endpoint: EndpointName, status: number, read: () => string): string {
  try {
    return read()
  } catch {
    throw new OAuth2Error('unparsable', `the response of the ${endpoint} is not valid UTF-8`, {
      status,
    })
  }
}

function readTokenResponse(
  endpoint: EndpointName,
  answer: EndpointResponse,
  hide: Redact,
): TokenResponse {
  const fields = checkResponse(endpoint, answer, parseTokenBody(answer), hide)
  const { access_token } = fields
  if (typeof access_token !== 'string' || access_token === '') {
    const { status } = answer
    throw new OAuth2Error('no-access-token', `the ${endpoint} returned no access_token`, { status })
  }
  return { ...fields, access_token }
}

function checkResponse(
  endpoint: EndpointName,
  answer: EndpointResponse,
  fields: Record<string, unknown> | undefined,
  hide: Redact,
): Record<string, unknown> {
  const { status, body } = answer
  const report = fields && readReport(fields, hide)
  if (report) {
    const { error, error_description: description } = report
    const message = `the ${endpoint} reported ${error}${description ? `: ${description}` : ''}`
    throw new OAuth2Error('provider-error', message, { status, cause: report })
  }
  if (status < 200 || status > 299) {
    const detail = typeof fields?.message === 'string' ? `: ${toOneLine(fields.message, hide)}` : ''
    throw new OAuth2Error(
      'http-status',
      `the ${endpoint} responded with status ${status}${detail}`,
      {
        status,
      },
    )
  }
  if (body === '') {
    throw new OAuth2Error('empty-body', `the ${endpoint} responded with an empty body`, { status })
  }
  if (!fields) {
    // No cause: the parser's error would quote a fragment of the response that redaction may miss.
    throw new OAuth2Error('unparsable', `the response of the ${endpoint} cannot be parsed`, {
      status,
    })
  }
  return fields
}

/**
 * Parses JSON or form encoding. Providers send both with content types such as `text/plain` and
 * `text/html`.
 */
function parseTokenBody({
  body,
  contentType,
}: EndpointResponse): Record<string, unknown> | undefined {
  const type = (contentType.split(';')[0] ?? '').trim().toLowerCase()
  const json = parseJson(body)
  if (json || body.startsWith('{') || /[/+]json$/.test(type)) return json
  const pairs = [...new URLSearchParams(body)]
  const names = new Set(pairs.map(([name]) => name))
  // A lenient parser reads any page or sentence as a form.
  if (type !== FORM && !names.has('access_token') && !names.has('error')) return undefined
  // Each field occurs once (RFC 6749 §5.1); a duplicate is ambiguous.
  return names.size === pairs.length ? Object.fromEntries(pairs) : undefined
}

function parseJson(body: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body, exactInteger)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

// Keeps unsafe integers as strings: two ids beyond 2^53 could round to the same number and merge
// two people.
function exactInteger(_: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  const source = context?.source
  return source !== undefined && /^-?\d+$/.test(source) ? source : value
}

/**
 * Returns the reported error: `error` as in RFC 6749 §5.2, or an object with details as Facebook
 * and Google send it.
 */
function readReport(fields: Record<string, unknown>, hide: Redact): ProviderReport | undefined {
  const { error } = fields
  // Some providers always send the field, with an empty value on success.
  if (error === undefined || error === null || error === '' || error === false) return undefined
  const details: Record<string, unknown> = typeof error === 'object' ? { ...error } : {}
  const name = typeof error === 'object' ? (details.type ?? details.status ?? details.code) : error
  const description = fields.error_description ?? details.message
  return {
    error: toOneLine(
      typeof name === 'object' || name === undefined ? 'an error' : String(name),
      hide,
    ),
    ...(typeof description === 'string' && { error_description: toOneLine(description, hide) }),
  }
}

/**
 * Makes a provider's text safe for messages. Redacts before it truncates: a truncated secret would
 * not be recognized.
 */
const toOneLine = (text: string, hide: Redact): string =>
  hide(text)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .slice(0, 200)

const REDACTED = '[redacted]'

/**
 * Maximum length of a text that is searched for secrets, in characters. A longer one is redacted as
 * a whole: the time of the search grows with the product of the lengths of text and secret.
 */
const MAX_SEARCHED = 8 * 1024

/**
 * Returns a function that redacts the client's credentials and further values, in all spellings in
 * which a response may repeat them.
 */
function redactor(
  { clientId, clientSecret }: Settings,
  values: readonly (string | undefined)[],
): Redact {
  const hidden = [clientId, clientSecret, ...values].filter((value) => value !== undefined)
  const spellings = hidden.flatMap((value) => [
    value,
    encodeURIComponent(value),
    formEncode(value),
    JSON.stringify(value).slice(1, -1),
    escapeHtml(value),
  ])
  const patterns = [...new Set(spellings), basicCredentials(clientId, clientSecret)]
    .filter((spelling) => spelling !== '')
    // Longest first: the id may be a prefix of the secret.
    .sort((a, b) => b.length - a.length)
    .map((spelling) => {
      const pattern = spelling.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
      // Match short values only as whole words: `id` in `invalid_grant` reveals nothing.
      return spelling.length < 8 ? `(?<!\\w)${pattern}(?!\\w)` : pattern
    })
  const any = new RegExp(patterns.join('|'), 'gi')
  return (text) => (text.length > MAX_SEARCHED ? REDACTED : text.replace(any, REDACTED))
}

const escapeHtml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')

/**
 * Returns a redacted copy of an error. Libraries attach request and response data to their errors.
 */
function copyError(thrown: unknown, hide: Redact, depth = 0): unknown {
  if (!(thrown instanceof Error) || depth > 3) return undefined
  const cause = copyError(thrown.cause, hide, depth + 1)
  const copy = new Error(hide(thrown.message), cause === undefined ? undefined : { cause })
  copy.name = thrown.name
  copy.stack = hide(thrown.stack ?? '')
  const code = (thrown as { code?: unknown }).code
  return typeof code === 'string' ? Object.assign(copy, { code }) : copy
}
