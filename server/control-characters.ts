/** Replaces control characters, line separators and bidirectional controls by U+FFFD. */
export const replaceControls = (text: string): string =>
  text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, '\u{FFFD}')

/** An escape of JSON, or a control character that JSON does not escape. */
const IN_JSON = /\\u00[01][0-9a-f]|\\.|[\x7f-\x9f\p{Bidi_Control}\u2028\u2029]/gu

/** Like {@link replaceControls}, for a line of JSON. Keeps `\n` and `\t`, as in stack traces. */
export const replaceControlsInJson = (line: string): string =>
  line.replace(IN_JSON, (found) => (/^\\.$/.test(found) ? found : '\u{FFFD}'))
