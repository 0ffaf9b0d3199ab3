import { describe, expect, it } from 'vitest'
import { helpText, parseCommandLine } from './program.ts'
import { SETTINGS, VARIABLES } from './settings.ts'

const parse = (...argv: string[]) => parseCommandLine(argv, {}, '/')

describe('parseCommandLine', () => {
  it.each([
    [[], { name: 'start' }],
    [['start'], { name: 'start' }],
    [['--drain', '3'], { name: 'start' }],
    [['--help'], { name: 'help' }],
    [['endpoint', 'add', '-h'], { name: 'help' }],
    [['--version'], { name: 'version' }],
    [['endpoint', 'list'], { name: 'endpoint list', operands: [] }],
    [
      ['endpoint', 'add', 'tcp://a:1'],
      { name: 'endpoint add', operands: ['tcp://a:1'], flags: {} },
    ],
    [
      ['endpoint', 'add', '--databases', 'a,b', 'tcp://a:1', '--data=x'],
      { name: 'endpoint add', operands: ['tcp://a:1'], flags: { databases: 'a,b' } },
    ],
    [['endpoint', 'remove', 'tcp://a:1'], { name: 'endpoint remove', operands: ['tcp://a:1'] }],
    [
      ['token', 'create', '--name=ci', '--role', 'viewer', '--expires', '30d'],
      { name: 'token create', flags: { name: 'ci', role: 'viewer', expires: '30d' } },
    ],
    [['user', 'role', 'github:1', 'admin'], { name: 'user role', operands: ['github:1', 'admin'] }],
    [['operator-key'], { name: 'operator-key', flags: {} }],
    [['operator-key', '--renew'], { name: 'operator-key', flags: { renew: '' } }],
    [['backup', 'folder', '--data', 'x'], { name: 'backup', operands: ['folder'] }],
    [['restore', 'folder'], { name: 'restore', operands: ['folder'] }],
    [['secrets', 'discard'], { name: 'secrets discard', operands: [] }],
    [['audit', 'verify', '--last', 'abc'], { name: 'audit verify', flags: { last: 'abc' } }],
  ])('understands %j', (argv, command) => {
    expect(parse(...argv)).toMatchObject({ ok: true, command })
  })

  it.each([
    [['stop'], 'Unknown command stop'],
    [['start', 'now'], 'start has an unexpected argument "now"'],
    [['endpoint'], 'endpoint must be followed by list or add or remove.'],
    [['endpoint', 'open'], 'endpoint must be followed by list or add or remove, not "open"'],
    [['endpoint', 'add'], 'endpoint add requires ADDRESS'],
    [['backup'], 'backup requires FOLDER'],
    [['restore', 'a', 'b'], 'restore has an unexpected argument "b"'],
    [['endpoint', 'remove', 'a', 'b'], 'has an unexpected argument "b"'],
    [['endpoint', 'list', 'a'], 'has an unexpected argument "a"'],
    [['endpoint', 'list', '--databases', 'a'], 'Unknown flag --databases for this command'],
    [['token', 'create', '--name', 'a'], 'token create requires --role'],
    [['user', 'role', 'github:1'], 'user role requires ROLE'],
    [['operator-key', '--renew=yes'], '--renew does not take a value'],
  ])('refuses %j with a sentence', (argv, says) => {
    const parsed = parse(...argv)
    expect(parsed.ok ? [] : parsed.faults).toContainEqual(expect.stringContaining(says))
  })

  it('reports faults of flags together', () => {
    expect(parse('endpoint', 'list', '--drain=x', '--log=y')).toMatchObject({
      faults: [expect.stringContaining('--drain'), expect.stringContaining('--log')],
    })
  })
})

describe('helpText', () => {
  it.each(SETTINGS)('explains --$flag and $env', ({ flag, env }) => {
    expect(helpText()).toContain(`--${flag} `)
    expect(helpText()).toContain(env)
  })

  it.each(VARIABLES)('explains $env, which has no flag', ({ env }) => {
    expect(helpText()).toContain(`  ${env}\n`)
  })
})
