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
  const [length, knownLength] = [end - begin, knownEnd - begin]
  if (length + knownLength === 1) return true
  if (length === 1 && knownLength === 1) return known.length >= LONG
  const isPair = length === 2 && knownLength === 2
  return isPair && name[begin] === known[begin + 1] && name[begin + 1] === known[begin]
}
