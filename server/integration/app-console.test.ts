import { brotliDecompressSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { blog, listener, openApp } from '../test-support/app.testing.ts'

// Tests the pages and files of the console, and its fonts on sign-in pages.

const { request, close } = await openApp()
afterAll(close)

describe('the console', () => {
  it('serves hashed files as immutable and the page without caching', async () => {
    const file = await request('/_console/assets/main-abc.js')
    expect(await file.text()).toBe('main()')
    expect(file.headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable')
    const theme = await request('/_console/theme.js')
    expect(theme.headers.get('Cache-Control')).toBe('no-cache')
    for (const path of ['/_console/', '/_console/index.html', '/_console/endpoints/new']) {
      const page = await request(path)
      expect(page.status).toBe(200)
      expect(page.headers.get('Cache-Control')).toBe('no-store')
    }
  })

  it('serves the compressed form of a script with the same headers', async () => {
    const headers = { 'Accept-Encoding': 'gzip, deflate, br, zstd' }
    const file = await request('/_console/assets/main-abc.js', { headers })
    expect(brotliDecompressSync(await file.arrayBuffer()).toString()).toBe('main()')
    expect(file.headers.get('Content-Encoding')).toBe('br')
    expect(file.headers.get('Vary')).toContain('Accept-Encoding')
    expect(file.headers.get('Content-Type')).toMatch(/^text\/javascript/)
    expect(file.headers.get('Content-Security-Policy')).toContain("default-src 'none'")
    expect(file.headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable')
  })

  it('ignores Range', async () => {
    const headers = { Range: 'bytes=0-1', 'If-Range': '"x"' }
    const file = await request('/_console/assets/main-abc.js', { headers })
    expect([file.status, await file.text()]).toEqual([200, 'main()'])
    expect(file.headers.has('Content-Range')).toBe(false)
  })

  it('gives each page a new nonce, which its policy contains', async () => {
    const nonces = await Promise.all(
      [1, 2].map(async () => {
        const page = await request('/_console/')
        const nonce = /content="([^"]+)"/.exec(await page.text())?.[1] ?? ''
        expect(nonce).toMatch(/^[A-Za-z0-9+/]{22}==$/)
        const policy = page.headers.get('Content-Security-Policy') ?? ''
        expect(policy).toContain(`style-src 'self' 'nonce-${nonce}'`)
        expect(policy).not.toContain('unsafe')
        return nonce
      }),
    )
    expect(nonces[0]).not.toBe(nonces[1])
  })

  it('serves the sign-in page as a separate document whose form may redirect anywhere', async () => {
    const page = await request('/_console/sign-in?returnTo=%2F_console%2Fendpoints')
    expect(await page.text()).toBe('<title>Sign in</title>')
    expect(page.headers.get('Cache-Control')).toBe('no-store')
    const policy = page.headers.get('Content-Security-Policy') ?? ''
    expect(policy).toContain("script-src 'self'")
    expect(policy).not.toMatch(/form-action|unsafe|nonce/)
    expect((await request('/_console/')).headers.get('Content-Security-Policy')).toContain(
      "form-action 'self'",
    )
  })

  it('uses the fonts of the console on the sign-in pages', async () => {
    const style = await (await request('/_oauth2/page.css')).text()
    const files = [...style.matchAll(/url\("([^"]+)"\)/g)].map(([, file = '']) => file)
    expect(files).toEqual([
      '/_console/assets/geist-latin-wght-normal-abc.woff2',
      '/_console/assets/geist-mono-latin-wght-normal-abc.woff2',
    ])
    for (const file of files) expect((await request(file)).status).toBe(200)
  })

  it('includes the drain time in the page', async () => {
    expect(await (await request('/_console/')).text()).toContain('<i>30</i>')
  })

  it('includes in the page whether a certificate is configured', async () => {
    expect(await (await request('/_console/')).text()).toContain('<b>no</b>')
  })

  it('returns 404 for an absent script, and serves nothing outside its folder', async () => {
    expect((await request('/_console/assets/gone.js')).status).toBe(404)
    const sneaky = await request('/_console/..%2fgatehouse.sqlite')
    expect(await sneaky.text()).not.toContain('SQLite')
  })

  it('is served on every endpoint that reaches _system, with any default database', async () => {
    expect((await request('/_console/', {}, blog)).status).toBe(200)
    const closed = listener({ mapping: { names: ['blog'], defaultDatabase: 'blog' } })
    expect((await request('/_console/', {}, closed)).status).toBe(404)
  })
})
