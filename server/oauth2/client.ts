// A module by itself, therefore one long file: it imports nothing, and uses nothing that Node.js 20
// does not have. It is packed as `@gatehouse/server/oauth2` and as `@gatehouse/oauth2-client`.

/** How the client proves at the token endpoint who it is (RFC 6749 §2.3.1). */
export type TokenEndpointAuthMethod = 'client_secret_post' | 'client_secret_basic'

/** Settings of a provider, and the application's registration there. */
export interface OAuth2ClientOptions {
  /** Authorization endpoint (RFC 6749 §3.1); its query parameters are kept. */
  readonly authEndpoint: string
  /** Token endpoint (RFC 6749 §3.2). */
  readonly tokenEndpoint: string
  /** Where access tokens are refreshed (RFC 6749 §6). Default: `tokenEndpoint`. */
  readonly refreshEndpoint?: string | null | undefined
  /** Answers with the person whose access token asks. Default: none. */
  readonly activeUserEndpoint?: string | null | undefined
  /** The application's identifier at the provider. */
  readonly clientId: string
  /** The application's secret at the provider. */
  readonly clientSecret: string
  /**
   * Default: `client_secret_post`, which every known provider takes; RFC 6749 §2.3.1 asks only of
   * `client_secret_basic` that servers support it.
   */
  readonly tokenEndpointAuthMethod?: TokenEndpointAuthMethod | undefined
  /** Milliseconds until a request is given up, its answer read to the end. Default: 10,000. */
  readonly timeout?: number | undefined
  /** Bytes of an answer, decompressed, that are read before it is given up. Default: 1 MiB. */
  readonly maxBytes?: number | undefined
}

/**
 * Further parameters of a request. `null` and `undefined` leave a parameter out. `client_id` and
 * `client_secret` in it are ignored: they come from the options.
 */
export type OAuth2Parameters = Readonly<
  Record<string, string | number | boolean | null | undefined>
>

/** A successful answer of the token endpoint (RFC 6749 §5.1), as it was parsed. */
export interface TokenResponse {
  access_token: string
  token_type?: string
  /** Seconds; a string where the provider answered form-encoded. */
  expires_in?: number | string
  refresh_token?: string
  scope?: string
  [field: string]: unknown
}

/** An answer of the user endpoint, as it was parsed. Whole numbers beyond 2^53 are strings. */
export type ActiveUser = Record<string, unknown>

/** A client of one provider; its functions need no `this`. */
export interface OAuth2Client {
  /**
   * The URL to send the person to (RFC 6749 §4.1.1).
   *
   * It is `authEndpoint` with every query parameter that this has, and with `client_id`,
   * `redirect_uri`, `response_type` and `args` appended. No parameter is given twice (RFC 6749
   * §3.1): `client_id` and `redirect_uri` win over `args`, and `args` over `authEndpoint`.
   *
   * @param args further parameters (`state`, `scope`, `code_challenge`…); the default of
   *   `response_type` is `code`
   * @throws {@link OAuth2Error} `invalid-argument`
   */
  getAuthUrl(redirect_uri: string, args?: OAuth2Parameters): string
  /**
   * Exchanges a grant code for an access token (RFC 6749 §4.1.3).
   *
   * @param code as the provider passed it to the callback
   * @param redirect_uri the callback URL with which the code was requested
   * @param args further parameters (`code_verifier`…); the default of `grant_type` is
   *   `authorization_code`
   * @returns the parsed answer, JSON or form-encoded
   * @throws {@link OAuth2Error} (rejects) when there is no access token in the answer, for every
   *   reason in {@link OAuth2ErrorCode} but `invalid-options`
   */
  exchangeGrantToken(
    code: string,
    redirect_uri: string,
    args?: OAuth2Parameters,
  ): Promise<TokenResponse>
  /**
   * Asks who the person is, with the access token as Bearer (RFC 6750 §2.1).
   *
   * @returns the parsed answer (JSON), or `null` when there is no `activeUserEndpoint`
   * @throws {@link OAuth2Error} (rejects) like `exchangeGrantToken`, except `no-access-token`
   */
  fetchActiveUser(access_token: string): Promise<ActiveUser | null>
  /**
   * Exchanges a refresh token for a new access token (RFC 6749 §6), at `refreshEndpoint` or else at
   * `tokenEndpoint`. The answer may bring a new refresh token, which replaces the old one.
   *
   * @param args further parameters (`scope`…)
   * @throws {@link OAuth2Error} (rejects) like `exchangeGrantToken`
   */
  refresh(refresh_token: string, args?: OAuth2Parameters): Promise<TokenResponse>
}

/**
 * Why an operation failed.
 *
 * | code | the reason |
 * | --- | --- |
 * | `invalid-options` | `createOAuth2Client` was given too little, or no URL where one belongs |
 * | `invalid-argument` | an operation was given no string where one belongs |
 * | `timeout` | no complete answer in time |
 * | `network` | no connection, or it broke; `cause` says how |
 * | `redirect` | the endpoint answered with a redirect, which is never followed |
 * | `too-large` | the answer is longer than `maxBytes` |
 * | `provider-error` | the answer carries `error` (RFC 6749 §5.2), whatever its status; `cause` is a {@link ProviderReport} |
 * | `http-status` | a status other than 2xx, and no `error` in the answer |
 * | `empty-body` | the answer has no body |
 * | `unparsable` | the answer is not what can be read here |
 * | `no-access-token` | an answer of the token endpoint without `access_token` (RFC 6749 §5.1) |
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

/** What the provider says went wrong (RFC 6749 §5.2): redacted, without control characters, cut. */
export interface ProviderReport {
  readonly error: string
  readonly error_description?: string
}

/**
 * The one error of this module. Neither the message nor the cause or the stack contains the client
 * id, the client secret, a code or a token, also when the provider repeats them in its answer.
 */
export class OAuth2Error extends Error {
  override readonly name = 'OAuth2Error'
  readonly code: OAuth2ErrorCode
  /** The status of the provider's answer; `undefined` when there was none. */
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
 * // …the provider sends the person back with a code…
 * const { access_token } = await client.exchangeGrantToken(code, 'https://example.com/callback')
 * const user = await client.fetchActiveUser(access_token)
 *
 * @param options fully-qualified URLs with http or https, without fragment and credentials; they
 *   are read once. http is for providers on the same machine or network: RFC 6749 §3.1 and §3.2 ask
 *   for TLS
 * @throws {@link OAuth2Error} `invalid-options`, naming every fault at once
 */
export function createOAuth2Client(options: OAuth2ClientOptions): OAuth2Client {
  const settings = readOptions(options)
  const { clientId, clientSecret } = settings

  const requestToken = async (
    place: Place,
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
    const answer = await send(place, url, { method: 'POST', headers, body }, settings, hide)
    return judgeToken(place, answer, hide)
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
      // fetch would quote it in its own error.
      if (!/^[\x21-\x7e]+$/.test(access_token)) {
        throw new OAuth2Error('invalid-argument', 'access_token has characters that no token has')
      }
      const hide = redactor(settings, [access_token])
      const headers = { Authorization: `Bearer ${access_token}` }
      const answer = await send('user endpoint', url, { method: 'GET', headers }, settings, hide)
      return judge('user endpoint', answer, parseJson(answer.body), hide)
    },

    async refresh(refresh_token, args) {
      const url = settings.refreshEndpoint ?? settings.tokenEndpoint
      const fixed = { grant_type: 'refresh_token', refresh_token }
      return requestToken('refresh endpoint', url, fixed, {}, args)
    },
  })
}

export default createOAuth2Client

/** An endpoint, as messages name it. Its URL stays out of them: the query may hold secrets. */
type Place = 'token endpoint' | 'refresh endpoint' | 'user endpoint'

type Settings = ReturnType<typeof readOptions>

type Redact = (text: string) => string

interface Answer {
  readonly status: number
  readonly contentType: string
  /** Without white space around it. */
  readonly body: string
}

const FORM = 'application/x-www-form-urlencoded'

// GitHub refuses requests without one.
const USER_AGENT = 'Gatehouse'

function readOptions(options: OAuth2ClientOptions) {
  const faults: string[] = []
  const given: Partial<Record<keyof OAuth2ClientOptions, unknown>> = { ...options }

  const text = (name: keyof OAuth2ClientOptions): string => {
    const value = given[name] ?? undefined
    if (typeof value === 'string' && value !== '') return value
    faults.push(value === undefined ? `${name} is missing` : `${name} must be a non-empty string`)
    return ''
  }
  const url = (name: keyof OAuth2ClientOptions): string => {
    const value = text(name)
    if (value !== '' && !isEndpoint(value)) {
      faults.push(
        `${name} must be a fully-qualified http(s) URL without credentials and without fragment`,
      )
    }
    return value
  }
  const optionalUrl = (name: keyof OAuth2ClientOptions): string | undefined =>
    given[name] === undefined || given[name] === null ? undefined : url(name)
  const positive = (name: keyof OAuth2ClientOptions, fallback: number): number => {
    const value = given[name] ?? fallback
    // A longer timer would fire at once.
    if (Number.isInteger(value) && Number(value) > 0 && Number(value) < 2 ** 31) {
      return Number(value)
    }
    faults.push(`${name} must be a whole number from 1 to 2^31 - 1`)
    return fallback
  }
  const authMethod = (): TokenEndpointAuthMethod => {
    const value = given.tokenEndpointAuthMethod ?? 'client_secret_post'
    if (value === 'client_secret_post' || value === 'client_secret_basic') return value
    faults.push('tokenEndpointAuthMethod must be client_secret_post or client_secret_basic')
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
  if (faults.length > 0) {
    throw new OAuth2Error('invalid-options', `createOAuth2Client: ${faults.join('; ')}`)
  }
  return settings
}

function isEndpoint(text: string): boolean {
  // URL is lenient: it drops white space and completes `https:example.com`.
  if (!/^https?:\/\/[^\s#]+$/i.test(text) || !URL.canParse(text)) return false
  const { username, password } = new URL(text)
  return username === '' && password === ''
}

function requireText(name: string, value: unknown): void {
  if (typeof value === 'string' && value !== '') return
  throw new OAuth2Error('invalid-argument', `${name} must be a non-empty string`)
}

/** Every parameter once (RFC 6749 §3.1 and §3.2): `fixed` wins over `args`, these over `defaults`. */
function collect(
  fixed: Readonly<Record<string, string>>,
  defaults: Readonly<Record<string, string>>,
  args: OAuth2Parameters | undefined,
): Map<string, string> {
  const parameters = new Map(Object.entries({ ...fixed, ...defaults }))
  for (const [name, value] of Object.entries(args ?? {})) {
    if (value === null || value === undefined) continue
    if (!['string', 'number', 'boolean'].includes(typeof value)) {
      throw new OAuth2Error('invalid-argument', 'args must hold strings, numbers or booleans')
    }
    // A secret among the arguments of getAuthUrl would end up in the browser.
    if (name === 'client_id' || name === 'client_secret' || Object.hasOwn(fixed, name)) continue
    parameters.set(name, String(value))
  }
  return parameters
}

/** Appends to the query; what stays of it keeps its spelling. */
function appendQuery(endpoint: string, parameters: ReadonlyMap<string, string>): string {
  const url = new URL(endpoint)
  const kept = url.search
    .slice(1)
    .split('&')
    .filter((part) => {
      const [name] = new URLSearchParams(part).keys()
      return name !== undefined && !parameters.has(name)
    })
  url.search = [...kept, new URLSearchParams([...parameters]).toString()].join('&')
  return url.href
}

const formEncode = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1)

// RFC 6749 §2.3.1: both are form-encoded first, so a colon in the id is no separator.
const basicCredentials = (id: string, secret: string): string =>
  btoa(`${formEncode(id)}:${formEncode(secret)}`)

/** Sends a request and reads the whole answer, within the limits. Judges neither. */
async function send(
  place: Place,
  url: string,
  request: { method: string; headers: Record<string, string>; body?: string },
  limits: { readonly timeout: number; readonly maxBytes: number },
  hide: Redact,
): Promise<Answer> {
  const headers = { Accept: 'application/json', 'User-Agent': USER_AGENT, ...request.headers }
  const signal = AbortSignal.timeout(limits.timeout)
  let status: number | undefined
  try {
    const response = await fetch(url, { ...request, headers, redirect: 'manual', signal })
    status = response.status
    // Following it would carry the secret or the token to wherever it leads.
    if ([301, 302, 303, 307, 308].includes(status) || response.type === 'opaqueredirect') {
      await response.body?.cancel()
      throw new OAuth2Error('redirect', `the ${place} answered with a redirect`, { status })
    }
    const body = await readBody(place, response, limits.maxBytes)
    return { status, contentType: response.headers.get('content-type') ?? '', body: body.trim() }
  } catch (thrown) {
    if (thrown instanceof OAuth2Error) throw thrown
    if (signal.aborted) {
      const message = `the ${place} gave no complete answer within ${limits.timeout} ms`
      throw new OAuth2Error('timeout', message, { status })
    }
    const cause = copyError(thrown, hide)
    throw new OAuth2Error('network', `the connection to the ${place} failed`, { status, cause })
  }
}

async function readBody(place: Place, response: Response, maxBytes: number): Promise<string> {
  const { status } = response
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let bytes = 0
  let text = ''
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) {
      const message = `the ${place} answered with more than ${maxBytes} bytes`
      throw new OAuth2Error('too-large', message, { status })
    }
    text += decode(place, status, () => decoder.decode(chunk, { stream: true }))
  }
  return text + decode(place, status, () => decoder.decode())
}

function decode(place: Place, status: number, part: () => string): string {
  try {
    return part()
  } catch {
    throw new OAuth2Error('unparsable', `the ${place} answered with no UTF-8 text`, { status })
  }
}

function judgeToken(place: Place, answer: Answer, hide: Redact): TokenResponse {
  const fields = judge(place, answer, parseTokenBody(answer), hide)
  const { access_token } = fields
  if (typeof access_token !== 'string' || access_token === '') {
    const { status } = answer
    throw new OAuth2Error('no-access-token', `the ${place} gave no access_token`, { status })
  }
  return { ...fields, access_token }
}

function judge(
  place: Place,
  answer: Answer,
  fields: Record<string, unknown> | undefined,
  hide: Redact,
): Record<string, unknown> {
  const { status, body } = answer
  const report = fields && readReport(fields, hide)
  if (report) {
    const { error, error_description: description } = report
    const message = `the ${place} reported ${error}${description ? `: ${description}` : ''}`
    throw new OAuth2Error('provider-error', message, { status, cause: report })
  }
  if (status < 200 || status > 299) {
    const said = typeof fields?.message === 'string' ? `: ${tidy(fields.message, hide)}` : ''
    throw new OAuth2Error('http-status', `the ${place} answered with status ${status}${said}`, {
      status,
    })
  }
  if (body === '') {
    throw new OAuth2Error('empty-body', `the ${place} answered with an empty body`, { status })
  }
  if (!fields) {
    // Without a cause: the parser's error would quote the answer, cut where no redaction finds it.
    throw new OAuth2Error('unparsable', `the ${place} answered with what cannot be read`, {
      status,
    })
  }
  return fields
}

/** JSON, or form-encoded; providers label both as plain text or as a page. */
function parseTokenBody({ body, contentType }: Answer): Record<string, unknown> | undefined {
  const type = (contentType.split(';')[0] ?? '').trim().toLowerCase()
  const json = parseJson(body)
  if (json || body.startsWith('{') || /[/+]json$/.test(type)) return json
  const pairs = [...new URLSearchParams(body)]
  const names = new Set(pairs.map(([name]) => name))
  // A page or a sentence is a form too, to a lenient parser.
  if (type !== FORM && !names.has('access_token') && !names.has('error')) return undefined
  // RFC 6749 §5.1 has each field once: with two, there is no telling which one counts.
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

// Two ids beyond 2^53 may round to the same number: two people would become one.
function exactInteger(_: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  const source = context?.source
  return source !== undefined && /^-?\d+$/.test(source) ? source : value
}

/** `error` as RFC 6749 §5.2 has it, or as an object with the details, as Facebook and Google do. */
function readReport(fields: Record<string, unknown>, hide: Redact): ProviderReport | undefined {
  const { error } = fields
  // Some providers send the field always, empty on success.
  if (error === undefined || error === null || error === '' || error === false) return undefined
  const details: Record<string, unknown> = typeof error === 'object' ? { ...error } : {}
  const name = typeof error === 'object' ? (details.type ?? details.status ?? details.code) : error
  const description = fields.error_description ?? details.message
  return {
    error: tidy(typeof name === 'object' || name === undefined ? 'an error' : String(name), hide),
    ...(typeof description === 'string' && { error_description: tidy(description, hide) }),
  }
}

/** Words of others, fit for a message: redacted before they are cut, or a half would stay. */
const tidy = (text: string, hide: Redact): string =>
  hide(text)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .slice(0, 200)

/** Hides the client's credentials and further values, in each spelling that an echo may have. */
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
    // The longest first: the id may be the beginning of the secret.
    .sort((a, b) => b.length - a.length)
    .map((spelling) => {
      const pattern = spelling.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
      // `id` in `invalid_grant` gives nothing away: short ones count as whole words only.
      return spelling.length < 8 ? `(?<!\\w)${pattern}(?!\\w)` : pattern
    })
  const any = new RegExp(patterns.join('|'), 'gi')
  return (text) => text.replace(any, '[redacted]')
}

const escapeHtml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')

/** An error as far as it can be shown: others attach what was sent and received. */
function copyError(thrown: unknown, hide: Redact, depth = 0): unknown {
  if (!(thrown instanceof Error) || depth > 3) return undefined
  const cause = copyError(thrown.cause, hide, depth + 1)
  const copy = new Error(hide(thrown.message), cause === undefined ? undefined : { cause })
  copy.name = thrown.name
  copy.stack = hide(thrown.stack ?? '')
  const code = (thrown as { code?: unknown }).code
  return typeof code === 'string' ? Object.assign(copy, { code }) : copy
}
