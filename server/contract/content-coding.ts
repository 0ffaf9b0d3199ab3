/** Content codings of responses (RFC 9110 §8.4.1), the preferred one first. */
export const CODINGS = ['zstd', 'br', 'gzip'] as const

export type Coding = (typeof CODINGS)[number]

/** Returns the entity tag of a representation with a content coding; both without quotes. */
export const codedTag = (tag: string, coding: Coding): string => `${tag}.${coding}`

/** Returns an entity tag without the suffix of a content coding. */
export function uncodedTag(tag: string): string {
  const coding = CODINGS.find((each) => tag.endsWith(`.${each}`))
  return coding === undefined ? tag : tag.slice(0, -1 - coding.length)
}
