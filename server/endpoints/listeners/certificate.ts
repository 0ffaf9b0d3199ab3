import { readFile, unwatchFile, watchFile } from 'node:fs'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { promisify } from 'node:util'
import { Failure } from '../../failure.ts'

const read = promisify(readFile)

/** Paths of a certificate chain and its key, as PEM files. */
export interface CertificateFiles {
  readonly cert: string
  readonly key: string
}

/** The certificate of `ssl://` endpoints, reloaded when its files change. */
export interface Certificate {
  /** Options for `tls.createServer` and `setSecureContext`. */
  readonly context: SecureContextOptions
  /**
   * Calls `listener` when the files have changed to another valid pair. Returns the unsubscribe.
   */
  onRenewed(listener: () => void): () => void
  /** Stops watching the files. */
  close(): void
}

/** Interval at which the files are polled, ms. */
const CHECK_INTERVAL = 1000

/**
 * Loads a certificate and reloads it when its files change. If the new files are invalid or do not
 * match, it reports that to `warn` and keeps the last valid pair.
 *
 * @throws Failure `bad-parameter` if the files cannot be read or are invalid.
 */
export async function loadCertificate(
  files: CertificateFiles,
  warn: (message: string, error: unknown) => void,
): Promise<Certificate> {
  const load = async (): Promise<SecureContextOptions> => {
    const context = { cert: await read(files.cert), key: await read(files.key) }
    createSecureContext(context)
    return context
  }
  let context = await load().catch((cause: unknown) => {
    throw new Failure(
      'bad-parameter',
      `The certificate ${files.cert} with the key ${files.key} cannot be loaded: ${String(cause)}`,
      { cause },
    )
  })
  const listeners = new Set<() => void>()
  const renew = async () => {
    try {
      context = await load()
    } catch (error) {
      // Expected while only one of the files is written; the change of the other loads them again.
      warn('cannot load the renewed certificate, keeping the previous one', error)
      return
    }
    for (const listener of listeners) listener()
  }
  const changed = () => void renew()
  for (const file of [files.cert, files.key]) {
    // Polling, because a watch by inode misses a replaced symbolic link, as renewals use.
    watchFile(file, { interval: CHECK_INTERVAL, persistent: false }, changed)
  }
  return {
    get context() {
      return context
    },
    onRenewed(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close() {
      for (const file of [files.cert, files.key]) unwatchFile(file, changed)
    },
  }
}

/** Returns the Failure of an `ssl` endpoint when no certificate is configured. */
export const missingCertificate = () =>
  new Failure(
    'bad-parameter',
    'An ssl endpoint requires a certificate. Start Gatehouse with --tls-cert and --tls-key.',
  )
