import { randomFillSync } from 'node:crypto'

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

let lastTime = 0
let time = ''
/**
 * The random part of the last id, one base-32 digit per byte. An increment usually changes one
 * byte.
 */
const random = new Uint8Array(16)

/**
 * Returns an id that sorts by creation time: 48 bits of milliseconds and 80 random bits, as 26
 * characters of Crockford's base 32 (a ULID in lower case). Ids of the same millisecond increment
 * the random part.
 */
export function createDocumentId(now: number): string {
  if (now > lastTime) {
    lastTime = now
    time = encodeTime(now)
    randomFillSync(random)
    for (let at = 0; at < random.length; at++) random[at] = (random[at] as number) & 31
    // Clears the highest bit, so that increments within a millisecond cannot overflow.
    random[0] = (random[0] as number) & 15
  } else {
    let at = random.length - 1
    while (random[at] === 31) random[at--] = 0
    random[at] = (random[at] as number) + 1
  }
  let text = time
  for (let at = 0; at < random.length; at++) text += ALPHABET[random[at] as number]
  return text
}

function encodeTime(now: number): string {
  let text = ''
  for (let rest = now; text.length < 10; rest = Math.floor(rest / 32)) {
    text = ALPHABET.charAt(rest % 32) + text
  }
  return text
}
