import { DEFAULT_MIGRATION_TABLE } from 'kysely/migration'
import { Failure, systemCode } from '../../../failure.ts'
import { StoreUnavailable } from '../../availability/unavailable.ts'
import type { StoreRole } from '../../engine.ts'
import { isRejectedByServer } from '../postgres-error.ts'
import type { Pool } from './pool.ts'
import { reasonOf } from './probe.ts'

/** The oldest supported version of PostgreSQL. */
const MIN_VERSION = 14

/**
 * Opens the first connection. Checks the version and the encoding of the database, that it contains a
 * store (`command`), or that the role may create one.
 *
 * @throws StoreUnavailable if a later attempt may succeed; Failure `not-found` if there is no store;
 * Failure `unavailable` if the settings of the connection or the database have to be changed first.
 */
export async function openFirstConnection(
  connections: Pool,
  location: string,
  role: StoreRole,
): Promise<void> {
  const unusable = (reason: string) => `PostgreSQL at ${location} cannot be used: ${reason}.`
  const reading = connections.pool.query<{
    encoding: string
    is_store: boolean
    can_create: boolean
    grant: string
  }>(
    // There is no current schema if the role may not use any.
    `select current_setting('server_encoding') as encoding, to_regclass($1) is not null as is_store,
      has_schema_privilege(current_schema(), 'create') is true as can_create,
      format('GRANT USAGE, CREATE ON SCHEMA %I TO %I', coalesce(current_schema(), 'public'),
        current_user) as grant`,
    [DEFAULT_MIGRATION_TABLE],
  )
  // An older server may reject the settings of the connection.
  await reading.catch(() => {})
  const { serverVersion } = connections
  if (serverVersion !== undefined && Number.parseInt(serverVersion, 10) < MIN_VERSION) {
    throw new Failure(
      'unavailable',
      unusable(`its version is ${serverVersion}, and Gatehouse needs ${MIN_VERSION} or newer`),
    )
  }
  const { rows } = await reading.catch((cause: unknown) => {
    const reason = permanentReason(cause)
    if (reason === undefined) throw new StoreUnavailable(unusable(reasonOf(cause)), { cause })
    throw new Failure('unavailable', unusable(reason), { cause })
  })
  const { encoding, is_store: isStore, can_create: canCreate, grant } = rows[0] ?? {}
  if (encoding !== 'UTF8') {
    throw new Failure(
      'unavailable',
      unusable(
        `the database has the encoding ${encoding}, which cannot store every text. Create it with ` +
          'the encoding UTF8',
      ),
    )
  }
  if (role === 'command' && !isStore) {
    throw new Failure('not-found', `PostgreSQL at ${location} contains no Gatehouse database.`)
  }
  if (!isStore && !canCreate) {
    throw new Failure(
      'unavailable',
      unusable(`the role may not create tables. As the owner of the database, run: ${grant}`),
    )
  }
}

/**
 * Codes of errors of Node.js for a certificate that is not accepted
 * (https://nodejs.org/api/tls.html#x509-certificate-error-codes), and for a client certificate or
 * key that cannot be used.
 */
const certificateErrors =
  /^(?:CERT_|CRL_|ERROR_IN_C|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_|PATH_LENGTH_|HOSTNAME_|ERR_TLS_CERT_|ERR_OSSL_)/

/**
 * Reasons of OpenSSL why a handshake fails until a setting of either side changes: a version, the
 * ciphers or a certificate. Others, such as an internal error of the server, may be temporary.
 */
const handshakeErrors =
  /^(?:wrong version number|unsupported protocol|no protocols available|no ciphers available|dh key too small|tlsv1 unrecognized name|[a-z0-9/]+ alert (?:protocol version|handshake failure|insufficient security|bad certificate|unsupported certificate|certificate [a-z]+|unknown ca|access denied))$/

/** The messages of errors of `pg` that have no code. */
const NO_TLS = 'The server does not support SSL connections'
const AUTHENTICATION = /^SASL: /

/** Returns why no attempt to connect can succeed, or undefined if a later one may. */
function permanentReason(error: unknown): string | undefined {
  const reason = reasonOf(error)
  const code = systemCode(error) ?? ''
  if (isRejectedByServer(error)) return isLackOfResources(code) ? undefined : reason
  if (certificateErrors.test(code) || handshakeErrors.test(reason)) {
    return `the TLS connection failed: ${reason}`
  }
  if (reason === NO_TLS) return 'it does not support TLS, which the database URL requires'
  return AUTHENTICATION.test(reason) ? reason : undefined
}

/** Returns whether a SQLSTATE is of class 53, such as too many connections. */
const isLackOfResources = (code: string): boolean => code.startsWith('53')
