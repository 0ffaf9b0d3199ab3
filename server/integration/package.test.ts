import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePorts } from '../endpoints/listeners/free-ports.testing.ts'
import { startTestProvider } from '../oauth2/providers/provider.testing.ts'
import { type Canaries, createCanary, findCanaries } from '../test-support/canaries.testing.ts'
import {
  installTarball,
  listTarball,
  packCopy,
  run,
  type Tarballs,
} from '../test-support/package.testing.ts'
import { sendRequest } from '../test-support/start.testing.ts'

// Tests the `npm pack` output of the server and of the OAuth 2.0 client, each installed in its own
// project.

const PATIENCE = 540_000

/** Secrets in the environment of the build. */
const canaries: Canaries = new Map(
  ['OPERATOR_KEY', 'SECRET_KEY', 'OAUTH2_CLIENT_SECRET', 'DATABASE_URL']
    .map((name) => `GATEHOUSE_${name}`)
    .map((name) => [name, createCanary(name)]),
)

let folder: string
let tarballs: Tarballs
let serverProject: string
let clientProject: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-'))
  tarballs = await packCopy(folder, Object.fromEntries(canaries))
  serverProject = join(folder, 'server-project')
  clientProject = join(folder, 'client-project')
  for (const project of [serverProject, clientProject]) mkdirSync(project)
  await installTarball(serverProject, tarballs.server)
  await installTarball(clientProject, tarballs.oauth2Client)
}, PATIENCE)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.each(['server', 'oauth2Client'] as const)('the package of the %s', (name) => {
  it('has no errors for publint', async () => {
    const { buffer, byteOffset, byteLength } = readFileSync(tarballs[name])
    const tarball = buffer.slice(byteOffset, byteOffset + byteLength)
    const { messages } = await publint({ pack: { tarball }, strict: true })
    expect(messages).toEqual([])
  })

  it('has no wrong types', async () => {
    const checked = await checkPackage(createPackageFromTarballData(readFileSync(tarballs[name])))
    if (checked.types === false) throw new Error('the package has no types')
    const problems = checked.problems.filter(
      (problem) =>
        // CommonJS loads the module with require(esm), which this check does not support.
        problem.kind !== 'CJSResolvesToESM' &&
        // Resolution without "exports", which TypeScript uses for Node.js before version 12.
        !('resolutionKind' in problem && problem.resolutionKind === 'node10'),
    )
    expect(problems).toEqual([])
  })
})

describe('the package of the server', () => {
  it('contains no tests and no files that only a checkout needs', async () => {
    const files = await listTarball(tarballs.server)
    const outside = files.filter((file) => !/^(?:bin|deploy|dist|docs)\//.test(file))
    expect(outside).toEqual([
      'CHANGELOG.md',
      'CONTRIBUTING.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'package.json',
    ])
    const unwanted = /test|global-setup|\.ts$|link-node|oauth2-client|bench/
    expect(files.filter((file) => unwanted.test(file.replace(/\.d\.ts$/, '')))).toEqual([
      'docs/benchmarks.md',
    ])
  })

  it('contains no secret of the environment in which it was built', () => {
    const built = join(serverProject, 'node_modules/@gatehouse/server/dist')
    const files = readdirSync(built, { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    )
    expect(files.filter(({ parentPath }) => parentPath.includes('console')).length).toBeGreaterThan(
      5,
    )
    for (const { parentPath, name } of files) {
      const text = readFileSync(join(parentPath, name), 'latin1')
      expect([name, findCanaries(canaries, text)]).toEqual([name, []])
      expect(text).not.toMatch(/GATEHOUSE_[A-Z0-9_]*(?:SECRET|KEY)(?:\W{1,3})canary/)
    }
  })

  it('contains every file that its pages link to', async () => {
    const files = await listTarball(tarballs.server)
    const pages = files.filter((file) => file.endsWith('.md'))
    const missing = pages.flatMap((page) => {
      const text = readFileSync(join(serverProject, 'node_modules/@gatehouse/server', page), 'utf8')
      const links = [...text.matchAll(/\]\(([^)#:]+)[^)]*\)|(?:src|srcset)="([^":]+)"/g)]
      return links
        .map(([, link, picture]) => join(page, '..', link ?? picture ?? ''))
        .filter((link) => !files.some((file) => file === link || file.startsWith(`${link}/`)))
    })
    expect(missing).toEqual([])
  })

  it('installs no Node.js and leaves the command `node` of the project alone', () => {
    const modules = join(serverProject, 'node_modules')
    expect(readdirSync(join(modules, '.bin'))).not.toContain('node')
    expect(readdirSync(modules).filter((name) => name.startsWith('node-'))).toEqual([])
    const { engines } = JSON.parse(
      readFileSync(join(modules, '@gatehouse/server/package.json'), 'utf8'),
    )
    expect(engines).toEqual({ node: '>=24' })
  })

  it('runs, with its console and the worker for schemas', async () => {
    const [port = 0] = await freePorts(1)
    const bin = join(serverProject, 'node_modules/.bin/gatehouse')
    const flags = ['--endpoint', `tcp://127.0.0.1:${port}`, '--data', join(folder, 'data')]
    const child = spawn(bin, ['start', ...flags], { stdio: 'ignore' })
    try {
      await expect
        .poll(async () => (await sendRequest(port, 'GET', '/_api/health')).status)
        .toBe(200)
      const page = await sendRequest(port, 'GET', '/_console/', { headers: { Host: 'localhost' } })
      expect(page.status).toBe(200)
      expect(page.text).toContain('<div id="root">')
      const { stdout: token } = await run(bin, [
        ...['token', 'create', '--name', 'a', '--role', 'admin'],
        ...['--data', join(folder, 'data')],
      ])
      const headers = {
        Authorization: `Bearer ${token.trim()}`,
        'Content-Type': 'application/json',
      }
      // Schemas are compiled in a worker, which is a separate file of the package.
      const schema = { headers, body: { required: ['title'] } }
      expect((await sendRequest(port, 'PUT', '/_schema/articles', schema)).status).toBe(201)
      expect((await sendRequest(port, 'POST', '/articles', { headers, body: {} })).status).toBe(422)
    } finally {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await ended
    }
  })

  it('loads the HTTP client of Node.js only for a request', async () => {
    const [port = 0] = await freePorts(1)
    const report = join(folder, 'report.cjs')
    const loaded = join(folder, 'loaded.json')
    writeFileSync(
      report,
      `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(loaded)}, JSON.stringify(process.moduleLoadList)))`,
    )
    const flags = ['--endpoint', `tcp://127.0.0.1:${port}`, '--data', join(folder, 'idle-data')]
    const child = spawn(join(serverProject, 'node_modules/.bin/gatehouse'), ['start', ...flags], {
      env: { ...process.env, NODE_OPTIONS: `--require=${report}` },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const ended = new Promise((resolve) => child.once('close', resolve))
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.includes('gatehouse is ready')) child.kill('SIGTERM')
    }
    await ended
    const modules: string[] = JSON.parse(readFileSync(loaded, 'utf8'))
    expect(modules).toContain('NativeModule http')
    expect(modules.filter((name) => /undici|http2/.test(name))).toEqual([])
  })

  it('reports in one sentence that it needs a newer Node.js', async () => {
    const pretend = join(folder, 'pretend.mjs')
    writeFileSync(pretend, "Object.defineProperty(process, 'version', { value: 'v20.1.0' })")
    const bin = join(serverProject, 'node_modules/@gatehouse/server/bin/gatehouse.js')
    const options = { env: { PATH: folder } }
    const ended = run(process.execPath, ['--import', pretend, bin, 'start'], options)
    await expect(ended).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^Gatehouse needs Node\.js 24 or newer, and this is v20\.1\.0: [^\n]+\.\n$/,
      ),
    })
  })
})

describe('the package of the OAuth 2.0 client', () => {
  it('contains the module, its types and its documentation', async () => {
    expect(await listTarball(tarballs.oauth2Client)).toEqual([
      'LICENSE',
      'README.md',
      'client.d.ts',
      'client.js',
      'package.json',
    ])
  })

  it('installs nothing else', () => {
    const modules = join(clientProject, 'node_modules')
    expect(readdirSync(modules).filter((name) => !name.startsWith('.'))).toEqual(['@gatehouse'])
    expect(existsSync(join(modules, '.bin'))).toBe(false)
  })

  it('has the version of the server', () => {
    const versions = [
      'server-project/node_modules/@gatehouse/server',
      'client-project/node_modules/@gatehouse/oauth2-client',
    ].map((place) => JSON.parse(readFileSync(join(folder, place, 'package.json'), 'utf8')).version)
    expect(versions[0]).toBe(versions[1])
  })
})

/** Loads the client, checks its exports and calls one of its functions. */
const USE = `
if (named !== createOAuth2Client) throw new Error('two of them')
const [options, step, ...args] = JSON.parse(process.argv[2])
Promise.resolve(createOAuth2Client(options)[step](...args)).then((result) => console.log(JSON.stringify(result)))`
const imports = (name: string) =>
  `import createOAuth2Client, { createOAuth2Client as named } from '${name}'${USE}`

describe.each([
  [
    '@gatehouse/server/oauth2',
    'import',
    'server-project/app.mjs',
    imports('@gatehouse/server/oauth2'),
  ],
  [
    '@gatehouse/oauth2-client',
    'import',
    'client-project/app.mjs',
    imports('@gatehouse/oauth2-client'),
  ],
  [
    '@gatehouse/oauth2-client',
    'require',
    'client-project/app.cjs',
    `const { default: createOAuth2Client, createOAuth2Client: named } = require('@gatehouse/oauth2-client')${USE}`,
  ],
])('%s by %s', (_name, _way, file, program) => {
  it('builds a URL and exchanges a code at a real provider', async () => {
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
      writeFileSync(join(folder, file), program)
      const options = {
        authEndpoint: `${provider.authEndpoint}?scope=openid`,
        tokenEndpoint: provider.tokenEndpoint,
        activeUserEndpoint: provider.activeUserEndpoint,
        clientId: 'app',
        clientSecret: secret,
      }
      const call = async (...words: unknown[]) => {
        const argument = JSON.stringify([options, ...words])
        const { stdout } = await run(process.execPath, [join(folder, file), argument])
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
})
