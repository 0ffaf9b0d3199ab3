import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseConfig } from './config.ts'
import type { Environment } from './config-access.ts'

const SECRET = 'canary-secret-7f3a9c2e41-and-8-more'
const KEY = Buffer.alloc(32, 7).toString('base64')
const GITHUB = { GATEHOUSE_GITHUB_CLIENT_ID: 'id', GATEHOUSE_GITHUB_CLIENT_SECRET: SECRET }
const OIDC = {
  GATEHOUSE_OIDC_ISSUER: 'https://id.example',
  GATEHOUSE_OIDC_CLIENT_ID: 'id',
  GATEHOUSE_OIDC_CLIENT_SECRET: SECRET,
}
const OAUTH2 = {
  GATEHOUSE_OAUTH2_AUTH_ENDPOINT: 'https://id.example/auth?x=1',
  GATEHOUSE_OAUTH2_TOKEN_ENDPOINT: 'https://id.example/token',
  GATEHOUSE_OAUTH2_ACTIVE_USER_ENDPOINT: 'https://id.example/user',
  GATEHOUSE_OAUTH2_CLIENT_ID: 'id',
  GATEHOUSE_OAUTH2_CLIENT_SECRET: SECRET,
}

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-'))
  writeFileSync(join(folder, 'secret'), `${SECRET}\n`)
  writeFileSync(join(folder, 'key'), `${KEY}\n`)
  writeFileSync(join(folder, 'empty'), '\n')
})
afterAll(() => rmSync(folder, { recursive: true }))

const config = (env: Environment, flags = {}) => {
  const parsed = parseConfig(flags, env, folder)
  if (!parsed.ok) throw new Error(parsed.errors.join('\n'))
  return parsed.config
}
const errors = (env: Environment, flags = {}) => {
  const parsed = parseConfig(flags, env, folder)
  return parsed.ok ? [] : parsed.errors
}

describe('the keys', () => {
  it('are read from the environment or from files', () => {
    const secretKey = new Uint8Array(32).fill(7)
    expect(config({ GATEHOUSE_OPERATOR_KEY: SECRET, GATEHOUSE_SECRET_KEY: KEY })).toMatchObject({
      operatorKey: SECRET,
      secretKey,
    })
    expect(
      config({ GATEHOUSE_OPERATOR_KEY_FILE: 'secret', GATEHOUSE_SECRET_KEY_FILE: 'key' }),
    ).toMatchObject({ operatorKey: SECRET, secretKey })
  })

  it.each([
    ['GATEHOUSE_OPERATOR_KEY', 'short', 'must have at least 32 characters'],
    ['GATEHOUSE_OPERATOR_KEY', 'with white space inside', 'must have at least 32 characters'],
    ['GATEHOUSE_SECRET_KEY', Buffer.alloc(31).toString('base64'), 'must be 32 bytes in base64'],
    ['GATEHOUSE_SECRET_KEY', KEY.slice(1), 'must be 32 bytes in base64'],
    ['GATEHOUSE_SECRET_KEY', `${KEY}A`, 'must be 32 bytes in base64'],
    ['GATEHOUSE_SECRET_KEY_FILE', 'missing', 'cannot be read'],
    ['GATEHOUSE_SECRET_KEY_FILE', 'empty', 'names an empty file'],
  ])('%s rejects %j', (name, value, says) => {
    expect(errors({ [name]: value })).toEqual([expect.stringContaining(`${name} ${says}`)])
  })

  const postgres = { databaseUrl: 'postgres://h/d' }
  it('must be configured for a node on PostgreSQL', () => {
    expect(errors({}, postgres)).toEqual([
      expect.stringContaining('GATEHOUSE_OPERATOR_KEY is missing'),
      expect.stringContaining('GATEHOUSE_SECRET_KEY is missing'),
    ])
    expect(errors({ GATEHOUSE_OPERATOR_KEY: SECRET, GATEHOUSE_SECRET_KEY: KEY }, postgres)).toEqual(
      [],
    )
  })

  it('an operator key is required to print it, because no node would use a new one', () => {
    const parsed = (env: Environment) => parseConfig(postgres, env, folder, 'operator-key')
    expect(parsed({})).toEqual({
      ok: false,
      errors: [expect.stringContaining('GATEHOUSE_OPERATOR_KEY is missing')],
    })
    expect(parsed({ GATEHOUSE_OPERATOR_KEY: SECRET })).toMatchObject({ ok: true })
  })

  it('are not needed by a command beside a running node', () => {
    expect(parseConfig(postgres, {}, folder, 'endpoint list')).toMatchObject({ ok: true })
  })
})

describe('GATEHOUSE_ADMINS', () => {
  it('names people by provider and id', () => {
    const { admins } = config({ GATEHOUSE_ADMINS: 'github:583231, oidc:a:b ,' })
    expect(admins).toEqual(['github:583231', 'oidc:a:b'])
  })

  it.each(['583231', 'github:', 'gitlab:1', 'local:operator', 'github:a b', 'ada@example.org'])(
    'rejects %j',
    (name) => {
      expect(errors({ GATEHOUSE_ADMINS: `github:1,${name}` })).toEqual([
        expect.stringContaining(JSON.stringify(name)),
      ])
    },
  )
})

describe('GATEHOUSE_TRUSTED_PROXIES', () => {
  it('accepts addresses and ranges', () => {
    const { trustedProxies } = config({ GATEHOUSE_TRUSTED_PROXIES: '10.0.0.0/8, ::1' })
    expect(trustedProxies).toEqual(['10.0.0.0/8', '::1'])
  })

  it('rejects other values', () => {
    expect(errors({ GATEHOUSE_TRUSTED_PROXIES: '10.0.0.1,proxy.example' })).toEqual([
      expect.stringContaining('Invalid entry: "proxy.example"'),
    ])
  })
})

describe('providers', () => {
  it('are those whose variables are set, in the order of the buttons', () => {
    const { providers } = config({ ...OAUTH2, ...OIDC, ...GITHUB, GATEHOUSE_OIDC_LABEL: 'Work' })
    expect(providers).toEqual([
      expect.objectContaining({
        name: 'github',
        label: 'GitHub',
        form: 'exact',
        kind: 'endpoints',
        tokenEndpoint: 'https://github.com/login/oauth/access_token',
      }),
      {
        name: 'oidc',
        label: 'Work',
        form: 'exact',
        kind: 'issuer',
        issuer: 'https://id.example',
        clientId: 'id',
        clientSecret: SECRET,
      },
      {
        name: 'oauth2',
        label: 'OAuth 2.0',
        form: 'csrf-in-url',
        kind: 'endpoints',
        authEndpoint: 'https://id.example/auth?x=1',
        tokenEndpoint: 'https://id.example/token',
        activeUserEndpoint: 'https://id.example/user',
        clientId: 'id',
        clientSecret: SECRET,
      },
    ])
  })

  it('can assign roles by groups, whose names end at the last colon', () => {
    const { providers } = config({
      ...OIDC,
      GATEHOUSE_OIDC_ROLE_CLAIM: 'groups',
      GATEHOUSE_OIDC_ROLES: 'ops:operator, team : editor,cn=a:b:viewer,',
    })
    expect(providers).toMatchObject([
      {
        groups: {
          claim: 'groups',
          roles: new Map([
            ['ops', 'operator'],
            ['team', 'editor'],
            ['cn=a:b', 'viewer'],
          ]),
        },
      },
    ])
  })

  it.each([
    ['ops:owner', 'Invalid entry: "ops:owner"'],
    ['ops:none', 'Invalid entry: "ops:none"'],
    ['ops:pending', 'Invalid entry: "ops:pending"'],
    ['operator', 'Invalid entry: "operator"'],
    [':operator', 'Invalid entry: ":operator"'],
    [`${'x'.repeat(257)}:viewer`, 'Invalid entry: "xxx'],
    ['ops:viewer,ops:operator', 'contains a group twice: "ops:operator"'],
    [' , ', 'contains no group'],
    [undefined, 'GATEHOUSE_OIDC_ROLE_CLAIM requires GATEHOUSE_OIDC_ROLES'],
  ])('reject the roles %j', (roles, says) => {
    const claim = { GATEHOUSE_OIDC_ROLE_CLAIM: 'groups', GATEHOUSE_OIDC_ROLES: roles }
    expect(errors({ ...OIDC, ...claim })).toEqual([expect.stringContaining(says)])
  })

  it('reject roles without a claim, and a claim without a provider', () => {
    expect(errors({ ...OIDC, GATEHOUSE_OIDC_ROLES: 'ops:viewer' })).toEqual([
      expect.stringContaining('GATEHOUSE_OIDC_ROLES requires GATEHOUSE_OIDC_ROLE_CLAIM'),
    ])
    const claim = { GATEHOUSE_OIDC_ROLE_CLAIM: 'groups', GATEHOUSE_OIDC_ROLES: 'ops:viewer' }
    expect(errors(claim)[0]).toContain('GATEHOUSE_OIDC_CLIENT_ID is missing')
  })

  it('can have their secrets in files', () => {
    const env = {
      GATEHOUSE_GOOGLE_CLIENT_ID: 'id',
      GATEHOUSE_GOOGLE_CLIENT_SECRET_FILE: join(folder, 'secret'),
    }
    expect(config(env).providers).toMatchObject([{ name: 'google', clientSecret: SECRET }])
  })

  it('can set the form of the callback', () => {
    const form = 'csrf-in-url-identical'
    expect(config({ ...OAUTH2, GATEHOUSE_OAUTH2_CALLBACK: form }).providers).toMatchObject([
      { form },
    ])
  })

  it.each(['http://127.0.0.1:9000/x', 'http://localhost/x', 'http://[::1]:1/x'])(
    'may use http on this machine: %s',
    (url) => {
      expect(config({ ...OIDC, GATEHOUSE_OIDC_ISSUER: url }).providers).toHaveLength(1)
    },
  )

  it.each([
    'http://id.example',
    'http://127.0.0.1.evil.example',
    'http://127.evil',
    'id.example',
    'ftp://id.example',
    `https://u:${SECRET}@id.example`,
    'https://id.example/#x',
  ])('reject the URL %s without repeating it', (url) => {
    expect(errors({ ...OIDC, GATEHOUSE_OIDC_ISSUER: url })).toEqual([
      expect.stringMatching(/^GATEHOUSE_OIDC_ISSUER must be a URL that begins with https/),
    ])
    expect(errors({ ...OAUTH2, GATEHOUSE_OAUTH2_TOKEN_ENDPOINT: url })).toHaveLength(1)
  })

  it('report every error together, and no secret', () => {
    const said = errors({
      GATEHOUSE_OPERATOR_KEY: 'canary-short',
      GATEHOUSE_SECRET_KEY: SECRET,
      GATEHOUSE_GITHUB_CLIENT_ID: 'id',
      GATEHOUSE_FACEBOOK_CLIENT_SECRET: SECRET,
      GATEHOUSE_OIDC_LABEL: 'Work',
      GATEHOUSE_OAUTH2_CLIENT_SECRET: SECRET,
      GATEHOUSE_OAUTH2_CALLBACK: 'inexact',
    }).join('\n')
    for (const part of [
      'GATEHOUSE_OPERATOR_KEY must have',
      'GATEHOUSE_SECRET_KEY must be',
      'GATEHOUSE_GITHUB_CLIENT_SECRET is missing',
      'GATEHOUSE_FACEBOOK_CLIENT_ID is missing',
      'GATEHOUSE_OIDC_ISSUER is missing',
      'GATEHOUSE_OIDC_CLIENT_ID is missing',
      'GATEHOUSE_OIDC_CLIENT_SECRET is missing',
      'GATEHOUSE_OAUTH2_AUTH_ENDPOINT is missing',
      'GATEHOUSE_OAUTH2_TOKEN_ENDPOINT is missing',
      'GATEHOUSE_OAUTH2_ACTIVE_USER_ENDPOINT is missing',
      'GATEHOUSE_OAUTH2_CALLBACK must be one of csrf-in-url, csrf-in-url-identical, exact',
    ]) {
      expect(said).toContain(part)
    }
    expect(said).not.toContain('canary')
  })
})
