import { execFile, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { freePorts } from './endpoints/free-ports.testing.ts'
import { startTestProvider } from './oauth2/provider.testing.ts'
import { ask } from './start.testing.ts'

// What `npm pack` makes, installed in an empty folder: the module by itself, and the server.

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
const PATIENCE = 240_000
let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-'))
  // "prepack" builds it; as for a test, it would hold the development build of React.
  const packed = await run('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: root,
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const [, file] = /"filename": "([^"]+)"/.exec(packed.stdout) ?? []
  writeFileSync(join(folder, 'package.json'), '{"type": "module", "private": true}')
  await run(
    'npm',
    // Without its Node.js, which this machine has already: it is the larger part.
    ['install', '--omit=optional', '--prefer-offline', '--no-audit', '--no-fund', `./${file}`],
    { cwd: folder },
  )
}, PATIENCE)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('gatehouse/oauth2 from the package', () => {
  it('builds an URL and exchanges a code at a real provider', async () => {
    const callback = 'https://app.example/callback'
    const secret = 'the-secret-of-the-client'
    const provider = await startTestProvider([
      {
        client_id: 'app',
        client_secret: secret,
        redirect_uris: [callback],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ])
    try {
      writeFileSync(
        join(folder, 'app.js'),
        `import createOAuth2Client, { createOAuth2Client as named } from 'gatehouse/oauth2'
if (named !== createOAuth2Client) throw new Error('two of them')
const [options, step, ...args] = JSON.parse(process.argv[2])
console.log(JSON.stringify(await createOAuth2Client(options)[step](...args)))`,
      )
      const options = {
        authEndpoint: `${provider.authEndpoint}?scope=openid`,
        tokenEndpoint: provider.tokenEndpoint,
        activeUserEndpoint: provider.activeUserEndpoint,
        clientId: 'app',
        clientSecret: secret,
      }
      const call = async (...words: unknown[]) => {
        const argument = JSON.stringify([options, ...words])
        const { stdout } = await run(process.execPath, ['app.js', argument], { cwd: folder })
        return JSON.parse(stdout)
      }
      const code_verifier = randomBytes(32).toString('base64url')
      const code_challenge = createHash('sha256').update(code_verifier).digest('base64url')
      const url = await call('getAuthUrl', callback, {
        code_challenge,
        code_challenge_method: 'S256',
      })
      const code = (await provider.authorize(url)).searchParams.get('code')
      const token = await call('exchangeGrantToken', code, callback, { code_verifier })
      expect(await call('fetchActiveUser', token.access_token)).toEqual({
        sub: 'ada',
        id: 'id-of-ada',
      })
    } finally {
      provider.close()
    }
  })

  it('comes with its types', () => {
    const { exports } = JSON.parse(
      readFileSync(join(folder, 'node_modules/gatehouse/package.json'), 'utf8'),
    )
    const types = join(folder, 'node_modules/gatehouse', exports['./oauth2'].types)
    expect(readFileSync(types, 'utf8')).toContain('export declare function createOAuth2Client')
  })
})

describe('the server from the package', () => {
  it('runs, with its console', async () => {
    const [port = 0] = await freePorts(1)
    const bin = join(folder, 'node_modules/gatehouse/bin/gatehouse.js')
    const flags = ['--endpoint', `tcp://127.0.0.1:${port}`, '--data', join(folder, 'data')]
    const child = spawn(process.execPath, [bin, 'start', ...flags], { stdio: 'ignore' })
    try {
      await vi.waitFor(
        async () => expect((await ask(port, 'GET', '/_api/health')).status).toBe(200),
        { timeout: 20_000 },
      )
      const page = await ask(port, 'GET', '/_console/', { headers: { Host: 'localhost' } })
      expect(page.status).toBe(200)
      expect(page.text).toContain('<div id="root">')
    } finally {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await ended
    }
  })
})
