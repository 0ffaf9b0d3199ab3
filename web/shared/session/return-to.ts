/** Where the console lives; the sign-in leads back to nowhere else. */
const CONSOLE = '/_console/'

/** The page of the sign-in, a document of its own. */
const SIGN_IN = `${CONSOLE}sign-in`

/** The sign-in page that leads back to a page of the console. */
export const signInUrl = ({ pathname, search }: Pick<Location, 'pathname' | 'search'>): string =>
  `${SIGN_IN}?${new URLSearchParams({ returnTo: pathname + search })}`

/** The sign-in page after a sign-out. */
export const SIGNED_OUT_URL = `${SIGN_IN}?signedOut=1`

/**
 * The page of the console that a sign-in is to lead back to, as the URL of the sign-in page names
 * it; the console's start where it names another place or none. Judged as a browser would resolve
 * it: `//`, backslashes and dots included.
 */
export function readReturnTo(url: URL): string {
  const named = url.searchParams.get('returnTo') ?? ''
  if (!named.startsWith(CONSOLE) || !URL.canParse(named, url)) return CONSOLE
  const { origin, pathname, search } = new URL(named, url)
  const ours = origin === url.origin && pathname.startsWith(CONSOLE) && pathname !== SIGN_IN
  return ours ? pathname + search : CONSOLE
}
