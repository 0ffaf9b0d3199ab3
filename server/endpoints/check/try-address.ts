import { access, constants } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import type { Address } from '../../contract/endpoints/address.ts'
import { Failure } from '../../failure.ts'
import { bindingFailure, resolveHost } from '../address.ts'
import { bind } from '../listeners/bind.ts'
import { type Certificate, missingCertificate } from '../listeners/certificate.ts'
import { findSocket, requireSafeFolder } from '../listeners/unix-socket.ts'

/** Maximum time a check waits for a host name to resolve, ms. */
export const RESOLVE_TIMEOUT = 2_000

export interface TryDeps {
  readonly certificate: Certificate | undefined
  /** Folders in which no socket may be created. */
  readonly reservedFolders?: readonly string[] | undefined
}

/**
 * Checks whether an endpoint could be opened at an address. A port is bound and released at once.
 * For a Unix socket, only the folder and an existing file are examined.
 *
 * @throws Failure with the reason, as opening the endpoint would throw.
 */
export async function tryAddress(address: Address, deps: TryDeps): Promise<void> {
  if (address.scheme === 'ssl' && deps.certificate === undefined) throw missingCertificate()
  try {
    if (address.scheme === 'unix') await tryPath(address.path, deps.reservedFolders ?? [])
    else await tryPort(address.host, address.port)
  } catch (cause) {
    throw cause instanceof Failure ? cause : bindingFailure(address, cause)
  }
}

async function tryPath(path: string, reserved: readonly string[]): Promise<void> {
  await requireSafeFolder(path, reserved)
  await findSocket(path)
  await access(dirname(path), constants.W_OK | constants.X_OK)
}

async function tryPort(name: string, port: number): Promise<void> {
  const { ip: host, v6: ipv6Only } = await resolveSoon(name)
  const server = createServer((socket) => socket.destroy())
  await bind(
    server,
    { host, port, ipv6Only },
    () => new Promise((resolve) => server.close(() => resolve())),
  )
}

async function resolveSoon(name: string): ReturnType<typeof resolveHost> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(Object.assign(new Error(`cannot resolve ${name}`), { code: 'ETIMEDOUT' })),
    RESOLVE_TIMEOUT,
  )
  try {
    return await Promise.race([resolveHost(name), late.promise])
  } finally {
    clearTimeout(timer)
  }
}
