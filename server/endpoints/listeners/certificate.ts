import { readFile, unwatchFile, watchFile } from 'node:fs'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { promisify } from 'node:util'
import { Failure } from '../failure.ts'

const read = promisify(readFile)

/** Where a certificate chain and its key are kept, as PEM files. */
export interface CertificateFiles {
  readonly cert: string
  readonly key: string
}

/** The certificate of `ssl://` endpoints, as it stands in its files now. */
export interface Certificate {
  /** What `tls.createServer` and `setSecureContext` take. */
  readonly context: SecureContextOptions
  /** Calls back whenever the files have changed to another usable pair; returns the unsubscribe. */
  onRenewed(listener: () => void): () => void
  /** Stops watching. */
  close(): void
}

/** How often the files are looked at, ms: renewals replace them, or a link above them. */
const LOOK_EVERY = 1000

/**
 * Loads a certificate and follows its renewal. Files that do not fit each other are reported to
 * `warn` and the last good pair stays.
 *
 * @throws Failure `bad-parameter` where the files cannot be read, or make no certificate.
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
      `The certificate ${files.cert} with the key ${files.key} cannot be used: ${String(cause)}`,
      { cause },
    )
  })
  const listeners = new Set<() => void>()
  const renew = async () => {
    try {
      context = await load()
    } catch (error) {
      // Between the writing of the two files this is normal; the second change comes along here.
      warn('the renewed certificate cannot be used, the last one stays', error)
      return
    }
    for (const listener of listeners) listener()
  }
  const changed = () => void renew()
  for (const file of [files.cert, files.key]) {
    // By polling: a watch by inode would miss the swap of a link, which is how renewals are done.
    watchFile(file, { interval: LOOK_EVERY, persistent: false }, changed)
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
