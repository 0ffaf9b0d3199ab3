import { randomBytes } from 'node:crypto'

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

let lastTime = 0
let lastRandom = 0n

/**
 * Makes an id that sorts by the time it was made: 48 bits of milliseconds and 80 random ones, 26
 * characters of Crockford's base 32 (the form of an ULID, in lower case). Those made in one
 * millisecond follow each other.
 */
export function createDocumentId(now: number): string {
  if (now > lastTime) {
    lastTime = now
    // The highest bit is left free, so that counting up within a millisecond has room.
    lastRandom = BigInt(`0x${randomBytes(10).toString('hex')}`) >> 1n
  } else {
    lastRandom++
  }
  return encode(BigInt(lastTime), 10) + encode(lastRandom, 16)
}

function encode(number: bigint, length: number): string {
  let text = ''
  for (let rest = number; text.length < length; rest >>= 5n) {
    text = ALPHABET.charAt(Number(rest & 31n)) + text
  }
  return text
}
