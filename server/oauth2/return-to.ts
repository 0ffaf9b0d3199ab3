/** The longest path that is remembered during a sign-in. */
const LONGEST = 2_048

/**
 * The path on this origin where somebody wants to be after the sign-in, normalised; `/` for
 * whatever a browser could take for a place on another origin, or for no path at all.
 *
 * @param text as the form of the sign-in page sends it.
 */
export function returnPath(text: string | undefined): string {
  // A second slash begins a host, and browsers take backslashes for slashes and drop control
  // characters and white space, wherever they stand (WHATWG URL, "basic URL parser").
  if (
    text === undefined ||
    text.length > LONGEST ||
    !/^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/.test(text)
  ) {
    return '/'
  }
  const base = 'http://gatehouse.invalid'
  if (!URL.canParse(text, base)) return '/'
  const { origin, pathname, search, hash } = new URL(text, base)
  // Dots are resolved now: `/.//evil.example` has become a path with two slashes.
  return origin === base && !pathname.startsWith('//') ? pathname + search + hash : '/'
}
