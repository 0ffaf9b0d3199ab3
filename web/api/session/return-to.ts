/** Base path of the console. A sign-in redirects only to paths below it. */
const CONSOLE = '/_console/'

/** Path of the sign-in page, which is a separate document. */
const SIGN_IN = `${CONSOLE}sign-in`

/** Returns the URL of the sign-in page that redirects back to the given page. */
export const signInUrl = ({ pathname, search }: Pick<Location, 'pathname' | 'search'>): string =>
  `${SIGN_IN}?${new URLSearchParams({ returnTo: pathname + search })}`

/** URL of the sign-in page after a sign-out. */
export const SIGNED_OUT_URL = `${SIGN_IN}?signedOut=1`

/**
 * Returns the console page that a sign-in redirects to, from the `returnTo` parameter of the
 * sign-in page's URL. Returns the console's start page if the parameter is missing or points
 * elsewhere. The value is resolved as a browser resolves it, including `//`, backslashes, and dot
 * segments.
 */
export function readReturnTo(url: URL): string {
  const named = url.searchParams.get('returnTo') ?? ''
  if (!named.startsWith(CONSOLE) || !URL.canParse(named, url)) return CONSOLE
  const { origin, pathname, search } = new URL(named, url)
  const isConsolePath =
    origin === url.origin && pathname.startsWith(CONSOLE) && pathname !== SIGN_IN
  return isConsolePath ? pathname + search : CONSOLE
}
