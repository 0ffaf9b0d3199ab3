/** A text in lower case, converted once because each keystroke searches it. */
export interface Searchable {
  readonly text: string
  /** Synonyms, which match with a lower score. */
  readonly also: string
}

const foldCase = (text: string) => text.toLowerCase()

/** Returns a text in the form that {@link rank} searches. */
export const searchable = (text: string, also = ''): Searchable => ({
  text: foldCase(text),
  also: foldCase(also),
})

/** Characters before the start of a word. */
const BEFORE_WORD = /[\s/:._\-[]/

/**
 * Returns how well all words match, higher is better; 0 if a word does not match. Substrings score
 * highest at the start of a word. Letters of one word in order with gaps score lowest.
 */
export function rank({ text, also }: Searchable, words: readonly string[]): number {
  let sum = 0
  for (const word of words) {
    const found = Math.max(scoreWord(text, word), scoreWord(also, word) / 4)
    if (found === 0) return 0
    sum += found
  }
  // The shorter of two equal matches wins.
  return sum / words.length - Math.min(text.length, 200) / 1_000
}

function scoreWord(text: string, word: string): number {
  const at = text.indexOf(word)
  if (at === 0) return text.length === word.length ? 10 : 8
  if (at > 0) return BEFORE_WORD.test(text.charAt(at - 1)) ? 6 : 4
  return word.length > 2 && text.split(' ').some((part) => inOrder(part, word)) ? 1 : 0
}

/**
 * Returns whether a text contains the letters of a word in order, within twice the word's length.
 */
function inOrder(text: string, word: string): boolean {
  let at = text.indexOf(word.charAt(0))
  if (at === -1) return false
  const first = at
  for (let i = 1; i < word.length; i++) {
    at = text.indexOf(word.charAt(i), at + 1)
    if (at === -1) return false
  }
  return at - first < word.length * 2
}

/** Returns the words of a query in lower case. */
export const splitWords = (query: string): string[] => foldCase(query).split(/\s+/).filter(Boolean)

export interface Matches<T> {
  /** The best matches, best first. */
  readonly best: readonly T[]
  /** The total number of matches. */
  readonly count: number
}

/**
 * Returns the best matches, at most `limit` of each kind, best first. Equal matches keep their order.
 */
export function find<T extends { readonly searched: Searchable; readonly kind: string }>(
  items: readonly T[],
  query: string,
  limit: number,
): Matches<T> {
  const words = splitWords(query)
  const ranked: { item: T; score: number; index: number }[] = []
  for (const [index, item] of items.entries()) {
    const score = rank(item.searched, words)
    if (score > 0) ranked.push({ item, score, index })
  }
  ranked.sort((a, b) => b.score - a.score || a.index - b.index)
  const counts = new Map<string, number>()
  const best = ranked.filter(({ item: { kind } }) => {
    const count = (counts.get(kind) ?? 0) + 1
    counts.set(kind, count)
    return count <= limit
  })
  return { best: best.map(({ item }) => item), count: ranked.length }
}
