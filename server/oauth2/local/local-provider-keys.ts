import { createPrivateKey, createPublicKey, hkdfSync } from 'node:crypto'
import type { JWK } from 'oidc-provider'

export interface LocalProviderKeys {
  /** Signs ID tokens: an Ed25519 private key as a JWK (RFC 8037). */
  readonly signing: JWK
  /** Signs the cookies of the key page. */
  readonly cookies: string
  /** Authenticates this server at the token endpoint of its local provider. */
  readonly clientSecret: string
}

/** DER prefix of a 32-byte Ed25519 private key in PKCS #8 (RFC 8410 §7). */
const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex')

/**
 * Derives the keys from the secret key (HKDF, RFC 5869), so that all nodes of a store have the same
 * keys and none is stored.
 *
 * @param secretKey 32 bytes.
 */
export function deriveKeys(secretKey: Uint8Array): LocalProviderKeys {
  const derive = (info: string) =>
    Buffer.from(hkdfSync('sha256', secretKey, '', `gatehouse local provider ${info}`, 32))
  const key = createPrivateKey({
    key: Buffer.concat([PKCS8_ED25519, derive('signing')]),
    format: 'der',
    type: 'pkcs8',
  })
  const { x } = createPublicKey(key).export({ format: 'jwk' })
  return {
    signing: { ...key.export({ format: 'jwk' }), kid: x?.slice(0, 8), use: 'sig' } as JWK,
    cookies: derive('cookies').toString('base64url'),
    clientSecret: derive('client secret').toString('base64url'),
  }
}
