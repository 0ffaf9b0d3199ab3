import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  randomFillSync,
} from 'node:crypto'

/** Encrypts secrets of third parties, such as the tokens of providers. */
export interface Vault {
  /** Prefix of every text that this key encrypts, such as `1f3a99c0.`. */
  readonly prefix: string
  /**
   * Encrypts a secret.
   *
   * @param context the row and field of the secret, such as `sessions/<id>/access`. It is
   * authenticated as additional data, so a ciphertext that is copied to another row cannot be
   * decrypted there.
   */
  encrypt(secret: string, context: string): string
  /**
   * Decrypts a text.
   *
   * @throws Error if the text was encrypted with another key or for another context, or was altered.
   */
  decrypt(ciphertext: string, context: string): string
}

const NONCE_BYTES = 12
/** Number of nonces that are generated together, which takes a fifteenth of the time. */
const NONCES = 512
const TAG_BYTES = 16

/**
 * Creates a vault that uses AES-256-GCM (NIST SP 800-38D) with a random nonce. Each ciphertext
 * includes the id of its key, which distinguishes a wrong key from an altered text.
 *
 * @param key 32 bytes.
 */
export function createVault(key: Uint8Array): Vault {
  if (key.length !== 32) throw new RangeError('the key of a vault must have 32 bytes')
  // Node.js would convert the bytes for each text, which takes longer than encrypting it.
  const secret = createSecretKey(key)
  const keyId = createHash('sha256').update('gatehouse vault').update(key).digest('hex').slice(0, 8)
  const nonces = Buffer.alloc(NONCES * NONCE_BYTES)
  let used = nonces.length
  /** Returns a nonce that was not used before. The next call may overwrite it. */
  function nextNonce(): Buffer {
    if (used === nonces.length) {
      randomFillSync(nonces)
      used = 0
    }
    used += NONCE_BYTES
    return nonces.subarray(used - NONCE_BYTES, used)
  }
  return {
    prefix: `${keyId}.`,
    encrypt(plain, context) {
      const nonce = nextNonce()
      const cipher = createCipheriv('aes-256-gcm', secret, nonce)
      cipher.setAAD(Buffer.from(`${keyId}/${context}`))
      const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return `${keyId}.${Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url')}`
    },
    decrypt(ciphertext, context) {
      if (!ciphertext.startsWith(`${keyId}.`)) throw new Error('encrypted with another key')
      const data = ciphertext.slice(keyId.length + 1)
      const bytes = Buffer.from(data, 'base64url')
      // Node.js skips characters that are not part of the encoding.
      if (bytes.toString('base64url') !== data) throw new Error('not base64url')
      const decipher = createDecipheriv('aes-256-gcm', secret, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      })
      decipher.setAAD(Buffer.from(`${keyId}/${context}`))
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      const text = bytes.subarray(NONCE_BYTES + TAG_BYTES)
      return Buffer.concat([decipher.update(text), decipher.final()]).toString('utf8')
    },
  }
}
