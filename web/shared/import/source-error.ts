/** The source cannot be imported. Nothing was sent. */
export class SourceError extends Error {}

export const UNREADABLE = 'The file could not be read. Choose it again.'

export const NO_TEXT = 'This is not a text file.'

/** Returns whether a source is not text, such as an image. UTF-16, which contains zeros, is text. */
export function isBinary(begin: Uint8Array): boolean {
  const mark = `${begin[0]} ${begin[1]}`
  return mark !== '255 254' && mark !== '254 255' && begin.includes(0)
}
