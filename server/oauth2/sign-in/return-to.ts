/** The longest path that is remembered during a sign-in. */
const LONGEST = 2_048

/**
 * The path on this origin where somebody wants to be after the sign-in, normalised; `/` for
 * whatever a browser could take for a place on another origin, or for no path at all.
 *
 * @param text as the form of the sign-in page sends it.
 */
export function returnPath(text: string | undefined): string {
  if (!text?.startsWith('/') || text.length > LONGEST) return '/'
  // Browsers take backslashes for slashes and drop control characters (WHATWG URL, "basic URL
  // parser"): whatever they make of it, the same parser makes of it here.
  const base = 'http://gatehouse.invalid'
  if (!URL.canParse(text, base)) return '/'
  const { origin, pathname, search, hash } = new URL(text, base)
  // Dots are resolved now: `/.//evil.example` has become a path with two slashes, which begin a host.
  return origin === base && !pathname.startsWith('//') ? pathname + search + hash : '/'
}
