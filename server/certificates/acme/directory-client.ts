// Loaded on demand: only a node that orders certificates needs the client.

import { isIP } from 'node:net'
import { type Authorization, axios, Client, crypto, type Order as RemoteOrder } from 'acme-client'
import * as z from 'zod/mini'
import { systemCode } from '../../failure.ts'
import { limitedFetch } from '../../limited-fetch.ts'

interface Rejection {
  /** The type of the problem (RFC 8555 §6.7). */
  readonly type?: string | undefined
  /** How long the directory asks to wait, ms. */
  readonly retryAfter?: number | undefined
  /** Whether the order cannot go on, so that the next attempt begins with another one. */
  readonly isFinal?: boolean
}

/** Thrown if the directory cannot be reached, or rejects a step of an order. */
export class AcmeError extends Error {
  readonly rejection: Rejection

  constructor(message: string, { cause, ...rejection }: ErrorOptions & Rejection = {}) {
    super(message, { cause })
    this.rejection = rejection
  }
}

/** Maximum time for a response of the directory, ms. */
const RESPONSE_TIMEOUT = 20_000

const problem = z.object({
  type: z.optional(z.string()),
  detail: z.optional(z.string()),
  subproblems: z.optional(z.array(z.object({ detail: z.optional(z.string()) }))),
})

/** The directory rejected a nonce; the request may be repeated with another (RFC 8555 §6.5). */
const BAD_NONCE = 'urn:ietf:params:acme:error:badNonce'

/** Maximum length of what the directory says, in a reason. */
const DETAIL_LENGTH = 500

const detailOf = ({ detail = '', subproblems = [] }: z.infer<typeof problem>): string =>
  [detail, ...subproblems.map((each) => each.detail)]
    .filter(Boolean)
    .join(' ')
    .slice(0, DETAIL_LENGTH)

// The client would repeat requests by itself, for as long as Retry-After says, and without time
// limits. Here a request fails, and the order is attempted again later.
axios.defaults.adapter = async (config) => {
  const { url = '', method = 'get', data, headers } = config
  const { text, ...response } = await request(url, {
    method: method.toUpperCase(),
    headers: Object.entries(headers.toJSON()).map(([name, value]) => [name, String(value)]),
    ...(data !== undefined && { body: data }),
  })
  const answered = Object.fromEntries(response.headers)
  return { ...response, data: text, headers: answered, statusText: '', config, request: null }
}

/** @throws AcmeError if there is no response, or one with an error. */
async function request(url: string, init: RequestInit = {}) {
  const { host } = new URL(url)
  const signal = AbortSignal.timeout(RESPONSE_TIMEOUT)
  const options = { ...init, redirect: 'error', signal } as const
  const response = await limitedFetch(fetch)(url, options).catch((cause: Error) => {
    const inner = cause.cause as Error | undefined
    const reason =
      cause.name === 'TimeoutError'
        ? `did not answer within ${RESPONSE_TIMEOUT / 1000} s`
        : `cannot be reached: ${systemCode(inner) ?? inner?.message ?? cause.message}`
    throw new AcmeError(`The ACME directory ${host} ${reason}.`, { cause })
  })
  const text = await response.text()
  const { status, headers } = response
  if (status < 400) return { status, headers, text }
  const { data = {} } = problem.safeParse(parseJson(text))
  const detail = detailOf(data)
  throw new AcmeError(
    `The ACME directory ${host} responded with ${status}${detail && `: ${detail}`}`,
    {
      type: data.type,
      retryAfter: parseRetryAfter(headers.get('Retry-After')),
      isFinal: status < 500 && status !== 429 && data.type !== BAD_NONCE,
    },
  )
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the ms to wait, from a number of seconds or a date (RFC 9110 §10.2.3). */
function parseRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined
  const ms = /^[0-9]+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

/** Parses what the directory sent. @throws AcmeError */
function parse<T>(schema: z.ZodMiniType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new AcmeError(`The ACME directory sent ${what} that is malformed.`)
}

const url = z.string().check(z.refine((text) => URL.canParse(text)))

const remoteOrder = z.object({
  status: z.enum(['pending', 'ready', 'processing', 'valid', 'invalid']),
  authorizations: z.array(url),
  finalize: url,
  certificate: z.optional(url),
  error: z.optional(problem),
})

/** An order as the directory reports it. */
export type DirectoryOrder = z.infer<typeof remoteOrder>

const authorization = z.object({
  status: z.string(),
  identifier: z.object({ type: z.string(), value: z.string() }),
  challenges: z.array(
    z.object({
      type: z.string(),
      url,
      status: z.string(),
      token: z.optional(z.string().check(z.regex(/^[A-Za-z0-9_-]{1,256}$/))),
      error: z.optional(problem),
    }),
  ),
})

export type DirectoryAuthorization = z.infer<typeof authorization>

export type DirectoryClient = ReturnType<typeof createDirectoryClient>

export const createKey = async (): Promise<string> =>
  (await crypto.createPrivateEcdsaKey('P-256')).toString()

/** Returns the certificate and key with which a name is validated (RFC 8737 §3), PEM. */
export async function createAlpnCertificate(name: string, answer: string) {
  const identified = { identifier: { type: 'dns', value: name } } as Authorization
  const [key, cert] = await crypto.createAlpnCertificate(identified, answer, await createKey())
  return { key: key.toString(), cert: cert.toString() }
}

/**
 * Returns a client of an ACME directory (RFC 8555). Its methods throw {@link AcmeError}.
 *
 * @param account its key as PEM, and its URL if it is registered.
 */
export function createDirectoryClient(
  directory: string,
  account: { readonly key: string; readonly url: string | null },
) {
  const { key: accountKey, url: accountUrl } = account
  const client = new Client({
    directoryUrl: directory,
    accountKey,
    ...(accountUrl !== null && { accountUrl }),
  })
  return {
    /** Registers or changes the account. Returns its URL. */
    async register(contact: string | null): Promise<string> {
      const contacts = contact === null ? {} : { contact: [`mailto:${contact}`] }
      const data = { termsOfServiceAgreed: true, ...contacts }
      return run('an account', async () => {
        await client.createAccount(data).catch((error: unknown) => {
          // The client updates an account that exists. Without a contact there is nothing to update,
          // which directories reject.
          if (contact !== null) throw error
          try {
            client.getAccountUrl()
          } catch {
            throw error
          }
        })
        return client.getAccountUrl()
      })
    },
    /** Returns the URL of a new order. */
    async createOrder(names: readonly string[]): Promise<string> {
      const identifiers = names.map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value }))
      const created = await run('an order', () => client.createOrder({ identifiers }))
      return parse(url, created.url, 'an order')
    },
    async readOrder(orderUrl: string): Promise<DirectoryOrder> {
      const read = await run('an order', () => client.getOrder({ url: orderUrl } as RemoteOrder))
      return parse(remoteOrder, read, 'an order')
    },
    async readAuthorizations(order: DirectoryOrder): Promise<DirectoryAuthorization[]> {
      const all: DirectoryAuthorization[] = []
      for (const each of order.authorizations) {
        const one = { authorizations: [each] } as RemoteOrder
        const [read] = await run('an authorization', () => client.getAuthorizations(one))
        all.push(parse(authorization, read, 'an authorization'))
      }
      return all
    },
    /** Returns the key authorization of a token (RFC 8555 §8.1). */
    answerTo: (token: string): Promise<string> =>
      client.getChallengeKeyAuthorization({ type: 'http-01', token } as never),
    /** Tells the directory that it may validate. */
    async complete(challengeUrl: string): Promise<void> {
      await run('a challenge', () => client.completeChallenge({ url: challengeUrl } as never))
    },
    async finalize(order: DirectoryOrder, names: readonly string[], key: string): Promise<void> {
      const [, request] = await crypto.createCsr({ altNames: [...names] }, key)
      await run('an order', () => client.finalizeOrder(order as RemoteOrder, request))
    },
    /** Returns the issued chain, PEM. */
    async download(order: DirectoryOrder): Promise<string> {
      if (order.certificate === undefined) {
        throw new AcmeError('The ACME directory sent a valid order without a certificate.')
      }
      const text = await run('a certificate', () => client.getCertificate(order as RemoteOrder))
      return parse(z.string(), text, 'a certificate')
    },
  }
}

/** How often a request is repeated whose nonce was rejected. */
const NONCE_RETRIES = 20

/**
 * Runs a step of the client: one signed request. Errors of the client itself mean that it does not
 * understand the response.
 */
async function run<T>(what: string, step: () => Promise<T>, retries = 0): Promise<T> {
  try {
    return await step()
  } catch (error) {
    const isNonce = error instanceof AcmeError && error.rejection.type === BAD_NONCE
    if (isNonce && retries < NONCE_RETRIES) return run(what, step, retries + 1)
    if (error instanceof AcmeError) throw error
    const reason = (error as Error).message.slice(0, DETAIL_LENGTH)
    throw new AcmeError(`The ACME directory sent ${what} that is malformed: ${reason}`, {
      cause: error,
    })
  }
}

/** Returns why an order is invalid. */
export function reasonOf(
  order: DirectoryOrder,
  authorizations: readonly DirectoryAuthorization[],
): string {
  const failed = authorizations.flatMap(({ identifier, challenges }) =>
    challenges.flatMap(({ error }) => (error ? `${identifier.value}: ${detailOf(error)}` : [])),
  )
  const reasons = failed.length > 0 ? failed : [detailOf(order.error ?? {})]
  return `The ACME directory did not validate the names. ${reasons.join(' ')}`
    .trim()
    .slice(0, 2_000)
}

const renewalWindow = z.object({
  suggestedWindow: z.object({ start: z.string(), end: z.string() }),
})

/**
 * Returns when the directory suggests to renew a certificate, ms since 1970, and how long to wait
 * before asking again, ms; undefined if it has no suggestions.
 *
 * @param id of the certificate (RFC 9773 §4.1).
 */
export async function readRenewalWindow(directory: string, id: string) {
  const links = parseJson((await request(directory)).text)
  const { renewalInfo } = parse(z.object({ renewalInfo: z.optional(url) }), links, 'a directory')
  if (renewalInfo === undefined) return undefined
  const { headers, text } = await request(`${renewalInfo}/${id}`)
  const { suggestedWindow } = parse(renewalWindow, parseJson(text), 'a renewal window')
  const [start, end] = [Date.parse(suggestedWindow.start), Date.parse(suggestedWindow.end)]
  if (!(start <= end))
    throw new AcmeError('The ACME directory sent a renewal window that is malformed.')
  return { start, end, retryAfter: parseRetryAfter(headers.get('Retry-After')) }
}
