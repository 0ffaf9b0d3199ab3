import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Config, parseConfig } from './config.ts'
import type { Environment } from './config-access.ts'

/** Required when several nodes share a store. */
const KEYS = {
  GATEHOUSE_OPERATOR_KEY: 'canary-operator-key-with-32-characters-and-more',
  GATEHOUSE_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
}

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-'))
  for (const name of ['cert.pem', 'key.pem']) writeFileSync(join(folder, name), '')
  writeFileSync(join(folder, 'url'), 'postgres://u:p@host/db\n')
})
afterAll(() => rmSync(folder, { recursive: true }))

type Flags = Readonly<Record<string, string | string[]>>

const errors = (flags: Flags, env: Environment = {}) => {
  const parsed = parseConfig(flags, env, folder)
  return parsed.ok ? [] : parsed.errors
}
const config = (flags: Flags, env: Environment = {}): Config => {
  const parsed = parseConfig(flags, env, folder)
  if (!parsed.ok) throw new Error(parsed.errors.join('\n'))
  return parsed.config
}

describe('parseConfig', () => {
  it('has a default for everything', () => {
    expect(config({})).toEqual({
      endpoints: [],
      data: join(folder, 'data'),
      databaseUrl: undefined,
      publicOrigin: undefined,
      node: hostname(),
      drain: 30_000,
      readyDelay: 0,
      tls: undefined,
      keyFolders: [],
      log: 'info',
      operatorKey: undefined,
      webhookAllow: [],
      secretKey: undefined,
      admins: [],
      trustedProxies: [],
      providers: [],
      acme: undefined,
    })
  })

  it('rejects a variable whose name is nearly that of a setting, and ignores others', () => {
    const others = { GATEHOUSE_SERVICE_HOST: '10.0.0.1', GATEHOUSE_PORT: 'tcp://10.0.0.1:80' }
    expect(errors({}, { ...KEYS, ...others, GATEHOUSE_SECRET_KEY_FILE: '' })).toEqual([])
    expect(errors({}, { GATEHOUSE_DATABSE_URL: 'postgres://h/d' })).toEqual([
      'GATEHOUSE_DATABSE_URL is not a setting. Did you mean GATEHOUSE_DATABASE_URL?',
    ])
    expect(errors({}, { GATEHOUSE_OPERATER_KEY_FILE: 'key' })).toEqual([
      'GATEHOUSE_OPERATER_KEY_FILE is not a setting. Did you mean GATEHOUSE_OPERATOR_KEY_FILE?',
    ])
  })

  it('returns frozen values', () => {
    const frozen = config({ endpoint: ['tcp://a:1'] })
    expect(Object.isFrozen(frozen) && Object.isFrozen(frozen.endpoints)).toBe(true)
    expect(Object.isFrozen(frozen.admins) && Object.isFrozen(frozen.providers)).toBe(true)
  })

  const cases: [string, Flags, Environment, Partial<Config>][] = [
    [
      'endpoints',
      { endpoint: ['TCP://A:1', 'tcp://b:2'] },
      {},
      { endpoints: ['tcp://a:1', 'tcp://b:2'] },
    ],
    [
      'endpoints of the environment',
      {},
      { GATEHOUSE_ENDPOINTS: 'tcp://a:1, tcp://b:2,' },
      { endpoints: ['tcp://a:1', 'tcp://b:2'] },
    ],
    [
      'an endpoint given twice',
      { endpoint: ['tcp://a:1', 'tcp://A:1'] },
      {},
      { endpoints: ['tcp://a:1'] },
    ],
    ['seconds', { drain: '1.5', readyDelay: '3' }, {}, { drain: 1500, readyDelay: 3000 }],
    [
      'seconds of the environment',
      {},
      { GATEHOUSE_DRAIN: '0', GATEHOUSE_READY_DELAY: '2' },
      { drain: 0, readyDelay: 2000 },
    ],
    [
      'a public URL',
      { publicUrl: 'https://Gate.example.org:443/' },
      {},
      { publicOrigin: 'https://gate.example.org' },
    ],
    ['a level', {}, { GATEHOUSE_LOG: 'debug' }, { log: 'debug' }],
    ['a node', {}, { GATEHOUSE_NODE: 'a' }, { node: 'a' }],
    ['an empty variable, which counts as unset', {}, { GATEHOUSE_NODE: '' }, { node: hostname() }],
    ['a store', { databaseUrl: 'postgresql://h/d' }, KEYS, { databaseUrl: 'postgresql://h/d' }],
  ]
  it.each(cases)('reads %s', (_what, flags, env, expected) => {
    expect(config(flags, env)).toMatchObject(expected)
  })

  it('prefers a flag to the environment', () => {
    const env = { GATEHOUSE_NODE: 'env', GATEHOUSE_ENDPOINTS: 'tcp://env:1', GATEHOUSE_LOG: 'warn' }
    expect(config({ node: 'flag', endpoint: ['tcp://flag:1'] }, env)).toMatchObject({
      node: 'flag',
      endpoints: ['tcp://flag:1'],
      log: 'warn',
    })
  })

  it('resolves files relative to the working folder', () => {
    const { tls, data } = config({ tlsCert: 'cert.pem', tlsKey: 'key.pem', data: 'x/../y' })
    expect(tls).toEqual({ cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') })
    expect(data).toBe(join(folder, 'y'))
  })

  it('reads the database URL from a file, and omits it from messages', () => {
    const env = { ...KEYS, GATEHOUSE_DATABASE_URL_FILE: 'url' }
    expect(config({}, env).databaseUrl).toBe('postgres://u:p@host/db')
    const said = errors({ databaseUrl: 'mysql://u:secret@host/db' }, KEYS)
    expect(said).toEqual(['--database-url must be a URL that begins with postgres://.'])
  })

  it.each(['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'])(
    'accepts a database URL with sslmode=%s',
    (mode) => {
      expect(errors({ databaseUrl: `postgres://h/d?a=b&sslmode=${mode}&c=d` }, KEYS)).toEqual([])
    },
  )

  it.each(['?sslmode=required', '?sslmode=', '?sslmode=require&sslmode=allow'])(
    'rejects the parameters %s of a database URL',
    (parameters) => {
      expect(errors({ databaseUrl: `postgres://u:secret@h/d${parameters}` }, KEYS)).toEqual([
        '--database-url must have one of the values disable, prefer, require, verify-ca, ' +
          'verify-full, no-verify as its sslmode, or no sslmode.',
      ])
    },
  )

  it.each([
    'https://:secret@gate.example.org',
    'https://gate.example.org/?',
    'ftp://gate.example.org',
  ])('rejects %s as the public URL', (url) => {
    expect(errors({}, { GATEHOUSE_PUBLIC_URL: url }).join()).toContain('scheme, host and port only')
  })

  it('reports every error of flags and environment together', () => {
    const said = errors(
      { endpoint: ['tcp://127.1:80'], drain: 'soon', log: 'loud' },
      {
        GATEHOUSE_READY_DELAY: '-1',
        GATEHOUSE_PUBLIC_URL: 'gate.example.org',
        GATEHOUSE_TLS_KEY: 'key.pem',
      },
    ).join('\n')
    for (const part of [
      '--endpoint "tcp://127.1:80": “127.1” is not an IPv4 address',
      '--drain must be a number of seconds',
      '--log must be one of trace, debug',
      'GATEHOUSE_READY_DELAY must be a number of seconds',
      'GATEHOUSE_PUBLIC_URL must consist of scheme, host and port only',
      'GATEHOUSE_TLS_KEY requires --tls-cert',
    ]) {
      expect(said).toContain(part)
    }
  })

  it.each(['https://a.org/path', 'https://a.org/?q', 'https://u@a.org', 'ftp://a.org'])(
    'rejects the public URL %s',
    (url) => {
      expect(errors({ publicUrl: url })).toHaveLength(1)
    },
  )

  it('names a certificate that cannot be read', () => {
    const said = errors({ tlsCert: 'missing.pem', tlsKey: 'key.pem' })
    expect(said).toEqual([expect.stringMatching(/^--tls-cert cannot be read: .*missing\.pem/)])
  })
})
