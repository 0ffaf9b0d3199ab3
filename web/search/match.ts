/** A text as it is searched: folded once, for it is looked through at each letter typed. */
export interface Searchable {
  readonly text: string
  /** Found as well, but worth less: other words for the same thing. */
  readonly also: string
}

const fold = (text: string) => text.toLowerCase()

/** Folds what is to be found by {@link rank}. */
export const searchable = (text: string, also = ''): Searchable => ({
  text: fold(text),
  also: fold(also),
})

/** Where a word begins in a text: what one types first. */
const BEFORE_WORD = /[\s/:._\-[]/

/**
 * How well every word of a question is found, higher is better; 0: it is not. A word counts where it
 * stands as it is, more at the beginning of a word, and a little where its letters stand in order.
 */
export function rank({ text, also }: Searchable, words: readonly string[]): number {
  let sum = 0
  for (const word of words) {
    const found = Math.max(rankWord(text, word), rankWord(also, word) / 4)
    if (found === 0) return 0
    sum += found
  }
  // Of two that are found alike, the shorter is meant.
  return sum / words.length - Math.min(text.length, 200) / 1_000
}

function rankWord(text: string, word: string): number {
  const at = text.indexOf(word)
  if (at === 0) return text.length === word.length ? 10 : 8
  if (at > 0) return BEFORE_WORD.test(text[at - 1] ?? '') ? 6 : 4
  return word.length > 2 && inOrder(text, word) ? 1 : 0
}

/** Whether the letters of a word stand in a text in this order, with no more gaps than letters. */
function inOrder(text: string, word: string): boolean {
  let at = text.indexOf(word[0] ?? '')
  if (at === -1) return false
  const first = at
  for (let i = 1; i < word.length; i++) {
    at = text.indexOf(word[i] ?? '', at + 1)
    if (at === -1) return false
  }
  return at - first < word.length * 2
}

/** The words of a question, folded. */
export const wordsOf = (question: string): string[] => fold(question).split(/\s+/).filter(Boolean)

/** What {@link find} gives. */
export interface Found<T> {
  /** The best of them, best first. */
  readonly best: readonly T[]
  /** How many were found in all. */
  readonly count: number
}

/** Finds what answers a question, best first and of two alike the one that comes first. */
export function find<T extends { readonly searched: Searchable }>(
  items: readonly T[],
  question: string,
  most: number,
): Found<T> {
  const words = wordsOf(question)
  const ranked: { item: T; score: number; index: number }[] = []
  for (const [index, item] of items.entries()) {
    const score = rank(item.searched, words)
    if (score > 0) ranked.push({ item, score, index })
  }
  ranked.sort((a, b) => b.score - a.score || a.index - b.index)
  return { best: ranked.slice(0, most).map(({ item }) => item), count: ranked.length }
}
