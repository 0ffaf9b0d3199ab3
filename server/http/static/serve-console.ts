import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { serveStatic } from '@hono/node-server/serve-static'
import { type Context, Hono } from 'hono'
import { Failure } from '../../failure.ts'
import type { AppEnv } from '../env.ts'
import { pagePolicy, SCRIPT_POLICY, signInPagePolicy } from '../output/security-headers.ts'

/** Placeholder in the page for the nonce of its styles. */
const NONCE_MARK = '__CSP_NONCE__'

/** Placeholder for the drain time of a removed endpoint, in seconds. */
const DRAIN_MARK = '__DRAIN_SECONDS__'

/** Placeholder for whether ACME is configured: yes or no. */
const ACME_MARK = '__ACME__'

/** Values that the server writes into the page. */
export interface PageData {
  /** How long a removed endpoint drains, ms. */
  readonly drain: number
  /** Whether certificates can be obtained by ACME. */
  readonly acme: boolean
}

/**
 * Serves the built console below `/_console/`. Files with a hash in their name are immutable and
 * cached for a year. The page itself is never cached; it answers every other path, since the
 * console routes those itself. The sign-in page is a separate document.
 *
 * @param folder the output of `vite build`. Without it, requests fail with `unavailable`.
 * @param data values written into the page.
 */
export function consoleRoutes(folder: string, data: PageData) {
  const page = readPage(folder, 'index.html')
    ?.replaceAll(DRAIN_MARK, String(data.drain / 1000))
    .replaceAll(ACME_MARK, data.acme ? 'yes' : 'no')
  const signInPage = readPage(folder, 'sign-in.html')
  if (page === undefined || signInPage === undefined) {
    return new Hono<AppEnv>().get('/*', () => {
      throw new Failure('unavailable', 'The console is not built. Run npm run build first.')
    })
  }
  return new Hono<AppEnv>()
    .get(
      '/*',
      async (c, next) => {
        withoutRange(c)
        await next()
        if (c.res.ok && c.req.path.endsWith('.js')) {
          c.res.headers.set('Content-Security-Policy', SCRIPT_POLICY)
        }
        if (c.res.headers.has('Cache-Control')) return
        const isImmutable = c.res.ok && c.req.path.startsWith('/_console/assets/')
        c.res.headers.set(
          'Cache-Control',
          isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
        )
      },
      serveStatic({
        root: folder,
        // The build writes brotli and gzip variants of scripts and style sheets.
        precompressed: true,
        rewriteRequestPath: (path) => {
          const file = path.replace(/^\/_console/, '')
          // Pages are not served as files: they need their policy and nonce.
          return file === '/' || file.endsWith('.html') ? '/no-such-file' : file
        },
      }),
    )
    .get('/assets/*', () => {
      // Not the page: the import of a script that no longer exists must fail, so that the console
      // can report it.
      throw new Failure('not-found', 'File not found. Reload the console.')
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

/**
 * Removes `Range` from a request, which a server may ignore (RFC 9110 §14.2): the middleware would
 * send ranges of compressed files, and without a validator.
 */
function withoutRange(c: Context<AppEnv>): void {
  if (c.req.header('Range') === undefined) return
  const headers = new Headers(c.req.raw.headers)
  headers.delete('Range')
  c.req.raw = new Request(c.req.raw, { headers })
}

function readPage(folder: string, name: string): string | undefined {
  try {
    return readFileSync(join(folder, name), 'utf8')
  } catch {
    return undefined
  }
}
