/** Maximum length of a stored path. */
const MAX_LENGTH = 2_048

/**
 * Returns the normalized path on this origin to redirect to after the sign-in. Returns `/` if the
 * text is not a path, or if a browser could resolve it to another origin.
 *
 * @param text as submitted by the form of the sign-in page.
 */
export function returnPath(text: string | undefined): string {
  if (!text?.startsWith('/') || text.length > MAX_LENGTH) return '/'
  // Browsers treat backslashes as slashes and drop control characters (WHATWG URL, "basic URL
  // parser"). `URL` implements the same parser.
  const base = 'http://gatehouse.invalid'
  if (!URL.canParse(text, base)) return '/'
  const { origin, pathname, search, hash } = new URL(text, base)
  // Dot segments are resolved by now: `/.//evil.example` has become `//evil.example`, which names a
  // host.
  return origin === base && !pathname.startsWith('//') ? pathname + search + hash : '/'
}
