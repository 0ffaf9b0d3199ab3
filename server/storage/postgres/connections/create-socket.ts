import type { LookupAddress, LookupOptions } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { type LookupFunction, Socket } from 'node:net'
import { withTimeout } from '../../availability/health-monitor.ts'

/** Maximum time to wait for the resolver if an earlier answer is known, ms. */
const RESOLVE_TIMEOUT = 250

/** The last answer of the resolver for each host of a database URL. */
const known = new Map<string, LookupAddress[]>()

/** Lookups in progress: a resolver that does not respond would block a thread for each. */
const pending = new Map<string, Promise<LookupAddress[]>>()

/**
 * Creates the socket of a connection to PostgreSQL. If the resolver fails or does not respond, the
 * socket connects to the last known addresses of the host, so that a failure of the resolver is not
 * an outage of the database (docs/decisions/0013-postgresql-outages.md).
 */
export function createSocket(): Socket {
  const socket = new Socket()
  const connect = socket.connect.bind(socket)
  // `pg` passes a port and a host, or only the path of a Unix socket.
  return Object.assign(socket, {
    connect: (target: number | string, host?: string) =>
      host === undefined
        ? connect(String(target))
        : connect({ port: Number(target), host, lookup: lookUp }),
  })
}

const lookUp: LookupFunction = (host, options, callback) => {
  resolve(host, options).then(
    (addresses) => {
      const [first] = addresses
      if (options.all) callback(null, addresses)
      else callback(null, first?.address ?? '', first?.family)
    },
    (error: NodeJS.ErrnoException) => callback(error, []),
  )
}

async function resolve(host: string, options: LookupOptions): Promise<LookupAddress[]> {
  const answer = pending.get(host) ?? askResolver(host, options)
  const last = known.get(host)
  if (last === undefined) return answer
  return withTimeout(
    RESOLVE_TIMEOUT,
    answer.catch(() => last),
    last,
  )
}

function askResolver(host: string, options: LookupOptions): Promise<LookupAddress[]> {
  const answer = lookup(host, { ...options, all: true })
    .then((addresses) => {
      known.set(host, addresses)
      return addresses
    })
    .finally(() => pending.delete(host))
  pending.set(host, answer)
  return answer
}
