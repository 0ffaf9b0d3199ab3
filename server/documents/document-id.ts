import { randomFillSync } from 'node:crypto'

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

let lastTime = 0
let time = ''
/** The random part of the last id, a digit of base 32 each: counting up is most often one addition. */
const random = new Uint8Array(16)

/**
 * Makes an id that sorts by the time it was made: 48 bits of milliseconds and 80 random ones, 26
 * characters of Crockford's base 32 (the form of an ULID, in lower case). Those made in one
 * millisecond follow each other.
 */
export function createDocumentId(now: number): string {
  if (now > lastTime) {
    lastTime = now
    time = encodeTime(now)
    randomFillSync(random)
    for (let at = 0; at < random.length; at++) random[at] = (random[at] as number) & 31
    // The highest bit is left free, so that counting up within a millisecond has room.
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
