/** Length from which a name with another letter is a misspelling; shorter ones can be other words. */
const LONG = 8

/**
 * Returns whether a name is the known one with a letter too many or too few, or two swapped; in a
 * long name also with another letter.
 */
export function isMisspelling(name: string, known: string): boolean {
  let begin = 0
  while (begin < name.length && name[begin] === known[begin]) begin++
  let [end, knownEnd] = [name.length, known.length]
  while (Math.min(end, knownEnd) > begin && name[end - 1] === known[knownEnd - 1]) {
    end--
    knownEnd--
  }
  const [one, other] = [name.slice(begin, end), known.slice(begin, knownEnd)]
  if (one.length + other.length === 1) return true
  if (one.length === 1 && other.length === 1) return known.length >= LONG
  return one.length === 2 && other.length === 2 && one[0] === other[1] && one[1] === other[0]
}
