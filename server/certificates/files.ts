import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { CERTIFICATE_BYTES, type CertificateFiles } from '../contract/certificate.ts'
import { Failure, systemCode } from '../failure.ts'

/** Reads a certificate and its key from files, and checks that they fit. */
export async function readPair(files: CertificateFiles) {
  const texts = await readTexts(files)
  createSecureContext({ cert: texts.certificate, key: texts.key })
  return texts
}

export async function readTexts({ certificate, key }: CertificateFiles) {
  return {
    certificate: await readText('/certificate', certificate),
    key: await readText('/key', key),
  }
}

/**
 * Reads a small regular file.
 *
 * @throws Failure `invalid`
 */
async function readText(field: string, path: string): Promise<string> {
  const wrong = (reason: string, code?: string) =>
    new Failure('invalid', `${path} ${reason}.`, {
      field,
      ...(code !== undefined && { systemCode: code }),
    })
  let handle: FileHandle | undefined
  try {
    // Without waiting for a writer, if it is a named pipe.
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const stats = await handle.stat()
    if (!stats.isFile()) throw wrong('is not a file')
    if (stats.size > CERTIFICATE_BYTES) throw wrong('is larger than 256 KiB')
    return await handle.readFile('utf8')
  } catch (error) {
    if (error instanceof Failure) throw error
    throw wrong(`cannot be read: ${systemCode(error) ?? 'unknown error'}`, systemCode(error))
  } finally {
    await handle?.close()
  }
}
