import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'

/** A response to the browser. */
export interface Page {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly url: URL
  readonly text: string
}

interface Cookie {
  readonly value: string
  readonly path: string
}

/**
 * Creates a minimal browser for sign-ins: it keeps cookies by host and path, sends the origin of
 * forms, and follows redirects.
 */
export function createBrowser() {
  const jar = new Map<string, Cookie>()
  const cookiesFor = ({ hostname, pathname }: URL) =>
    [...jar]
      .filter(([key, { path }]) => {
        const below = path.endsWith('/')
          ? pathname.startsWith(path)
          : `${pathname}/`.startsWith(`${path}/`)
        return key.startsWith(`${hostname} `) && below
      })
      .map(([key, { value }]) => `${key.split(' ')[2]}=${value}`)
      .join('; ')

  const keep = (url: URL, lines: readonly string[]) => {
    for (const line of lines) {
      const [pair = '', ...attributes] = line.split(/; */)
      const [name = '', value = ''] = pair.split(/=(.*)/s)
      const path = attributes.find((each) => /^path=/i.test(each))?.slice(5) ?? url.pathname
      const over = attributes.some((each) => /^max-age=0$|^expires=thu, 01 jan 1970/i.test(each))
      const key = `${url.hostname} ${path} ${name}`
      if (over || value === '') jar.delete(key)
      else jar.set(key, { value, path })
    }
  }

  const request = (method: string, url: URL, form?: Record<string, string>, headers = {}) =>
    new Promise<Page>((resolve, reject) => {
      const cookie = cookiesFor(url)
      const sent = httpRequest(
        url,
        {
          method,
          agent: false,
          headers: {
            Accept: 'text/html',
            ...(cookie !== '' && { Cookie: cookie }),
            ...(method === 'POST' && {
              'Content-Type': 'application/x-www-form-urlencoded',
              Origin: url.origin,
              'Sec-Fetch-Site': 'same-origin',
            }),
            ...headers,
          },
        },
        (answer) => {
          let text = ''
          answer.setEncoding('utf8')
          answer.on('data', (part: string) => {
            text += part
          })
          answer.on('error', reject)
          answer.on('end', () => {
            keep(url, answer.headers['set-cookie'] ?? [])
            resolve({ status: answer.statusCode ?? 0, headers: answer.headers, url, text })
          })
        },
      )
      sent.on('error', reject)
      sent.end(form === undefined ? undefined : new URLSearchParams(form).toString())
    })

  /** Follows redirects until the response is a page, or `stop` returns true for the next URL. */
  const follow = async (page: Page, stop: (url: URL) => boolean): Promise<Page> => {
    const { location } = page.headers
    if (location === undefined) return page
    const url = new URL(location, page.url)
    return stop(url) ? page : follow(await request('GET', url), stop)
  }

  return {
    /** Cookies by `<host> <path> <name>`. */
    jar,
    request,
    get: async (url: string | URL, stop = (_: URL) => false) =>
      follow(await request('GET', new URL(url)), stop),
    post: async (
      url: string | URL,
      form: Record<string, string>,
      stop = (_: URL) => false,
      headers = {},
    ) => follow(await request('POST', new URL(url), form, headers), stop),
  }
}
