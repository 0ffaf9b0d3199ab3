/** Matches a string of JSON, between its quotes; the last one may be cut off. */
const STRING = /(")((?:[^"\\]|\\.)*)("?)/s

/** Matches right-to-left characters, and those that change the direction of text. */
const REVERSING =
  /[\u0590-\u08ff\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u

/** JSON whose strings do not change the order of the text around them. */
export function JsonText({ text }: { text: string }) {
  if (!REVERSING.test(text)) return text
  return text.split(STRING).map((part, at) =>
    // Only these have an element, because a document may have many strings.
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts have no other identity
    REVERSING.test(part) ? <bdi key={at}>{part}</bdi> : part,
  )
}
