import { describe, expect, it } from 'vitest'
import { helpText, parseCommandLine } from './command-line.ts'
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
    [['stop'], 'There is no command stop'],
    [['start', 'now'], 'start does not take "now"'],
    [['endpoint'], 'endpoint takes list or add or remove.'],
    [['endpoint', 'open'], 'endpoint takes list or add or remove, not "open"'],
    [['endpoint', 'add'], 'endpoint add needs ADDRESS'],
    [['backup'], 'backup needs FOLDER'],
    [['restore', 'a', 'b'], 'restore does not take "b"'],
    [['endpoint', 'remove', 'a', 'b'], 'does not take "b"'],
    [['endpoint', 'list', 'a'], 'does not take "a"'],
    [['endpoint', 'list', '--databases', 'a'], 'There is no flag --databases here'],
    [['token', 'create', '--name', 'a'], 'token create needs --role'],
    [['user', 'role', 'github:1'], 'user role needs ROLE'],
    [['operator-key', '--renew=yes'], '--renew takes no value'],
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
