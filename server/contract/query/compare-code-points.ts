/** Compares texts by Unicode code points, as both databases compare ids. */
export function compareCodePoints(one: string, other: string): number {
  const length = Math.min(one.length, other.length)
  let begin = 0
  // Equal parts of long texts are compared natively.
  while (
    begin + PART <= length &&
    one.slice(begin, begin + PART) === other.slice(begin, begin + PART)
  ) {
    begin += PART
  }
  for (let at = begin; at < length; at++) {
    const [a, b] = [one.charCodeAt(at), other.charCodeAt(at)]
    if (a !== b) return rankUnit(a) - rankUnit(b)
  }
  return one.length - other.length
}

const PART = 1024

/** Moves surrogates behind the other code units: their code points are above U+FFFF. */
const rankUnit = (unit: number) => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)
