import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { serveStatic } from '@hono/node-server/serve-static'
import { Hono } from 'hono'
import { compress } from 'hono/compress'
import { Failure } from '../failure.ts'
import type { AppEnv } from './env.ts'
import { pagePolicy, SCRIPT_POLICY, signInPagePolicy } from './security-headers.ts'

/** Where the page asks for the nonce of its styles. */
const NONCE_MARK = '__CSP_NONCE__'

/** Where it asks how long a removed endpoint drains, in seconds. */
const DRAIN_MARK = '__DRAIN_SECONDS__'

/** Where it asks whether `ssl` endpoints can be opened: yes or no. */
const CERTIFICATE_MARK = '__CERTIFICATE__'

/** What the page is told of the server, before anything is asked. */
export interface PageFacts {
  /** How long a removed endpoint drains, ms. */
  readonly drain: number
  /** Whether there is a certificate for `ssl` endpoints. */
  readonly certificate: boolean
}

/**
 * Serves the built console below `/_console/`. Files whose names carry a hash never change and may be
 * kept for ever; the page, which names them, is asked for anew each time and is what every other
 * path answers (the routes below are the console's own). The sign-in page is a document of its own.
 *
 * @param folder where `vite build` has put it; if it is not there, requests fail with `unavailable`.
 * @param facts are written into the page, so that it says them before one adds or removes.
 */
export function consoleRoutes(folder: string, facts: PageFacts) {
  const page = readPage(folder, 'index.html')
    ?.replaceAll(DRAIN_MARK, String(facts.drain / 1000))
    .replaceAll(CERTIFICATE_MARK, facts.certificate ? 'yes' : 'no')
  const signInPage = readPage(folder, 'sign-in.html')
  if (page === undefined || signInPage === undefined) {
    return new Hono<AppEnv>().get('/*', () => {
      throw new Failure('unavailable', 'The console is not built. Run npm run build first.')
    })
  }
  return new Hono<AppEnv>()
    .use(compress())
    .get(
      '/*',
      async (c, next) => {
        await next()
        if (c.res.ok && c.req.path.endsWith('.js')) {
          c.res.headers.set('Content-Security-Policy', SCRIPT_POLICY)
        }
        if (c.res.headers.has('Cache-Control')) return
        const kept = c.res.ok && c.req.path.startsWith('/_console/assets/')
        c.res.headers.set(
          'Cache-Control',
          kept ? 'public, max-age=31536000, immutable' : 'no-cache',
        )
      },
      serveStatic({
        root: folder,
        rewriteRequestPath: (path) => {
          const file = path.replace(/^\/_console/, '')
          // The pages are never served as they lie there: they want their policy and nonce.
          return file === '/' || file.endsWith('.html') ? '/no-such-file' : file
        },
      }),
    )
    .get('/assets/*', () => {
      // Not the page: a script that is gone must fail as such, so that the console can say so.
      throw new Failure('not-found', 'There is no such file. Reload the console.')
    })
    .get('/sign-in', (c) => {
      c.header('Content-Security-Policy', signInPagePolicy)
      c.header('Cache-Control', 'no-store')
      return c.html(signInPage)
    })
    .get('/*', (c) => {
      const nonce = randomBytes(16).toString('base64')
      c.header('Content-Security-Policy', pagePolicy(nonce))
      c.header('Cache-Control', 'no-store')
      return c.html(page.replaceAll(NONCE_MARK, nonce))
    })
}

function readPage(folder: string, name: string): string | undefined {
  try {
    return readFileSync(join(folder, name), 'utf8')
  } catch {
    return undefined
  }
}
