import type { IncomingMessage } from 'node:http'
import type { AppEnv, Asked, Via } from './env.ts'

/** Whether a request has a header more than once. `name` in lower case. */
export function isRepeated({ rawHeaders }: IncomingMessage, name: string): boolean {
  let times = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const other = rawHeaders[at]
    if (other?.length === name.length && other.toLowerCase() === name) times++
  }
  return times > 1
}

/**
 * A request of Node's, as checks look at it. Undefined where Node would have them see another one than
 * Hono: of a repeated `Authorization` it keeps the first, of `Host` it takes any.
 */
export function askedDirectly(request: IncomingMessage, via: Via): Asked | undefined {
  const { host } = request.headers
  if (host === undefined || !isPlainHost(host) || isRepeated(request, 'authorization')) {
    return undefined
  }
  return new AskedDirectly(request, via)
}

class AskedDirectly implements Asked {
  readonly env: AppEnv['Bindings']
  readonly req = this
  readonly method: string
  readonly #headers: IncomingMessage['headers']

  constructor(incoming: IncomingMessage, via: Via) {
    this.env = { incoming, via }
    this.method = incoming.method ?? ''
    this.#headers = incoming.headers
  }

  header(name: string): string | undefined {
    return this.#headers[name.toLowerCase()] as string | undefined
  }
}

/** How many hosts are remembered; then all are forgotten. */
const MOST_REMEMBERED = 100

const plainHosts = new Set<string>()

/** Whether a `Host` is one that stays as it is in an URL. Most requests name one that others named before. */
function isPlainHost(host: string): boolean {
  if (plainHosts.has(host)) return true
  if (URL.parse(`http://${host}/`)?.host !== host) return false
  if (plainHosts.size >= MOST_REMEMBERED) plainHosts.clear()
  plainHosts.add(host)
  return true
}
