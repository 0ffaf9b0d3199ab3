import { describe, expect, it } from 'vitest'
import { helpText, parseCommandLine } from './command-line.ts'
import { SETTINGS, VARIABLES } from './settings.ts'

const parse = (...argv: string[]) => parseCommandLine(argv, {}, '/')

describe('parseCommandLine', () => {
  it.each([
    [[], { name: 'start' }],
    [['start'], { name: 'start' }],
    [['--help'], { name: 'help' }],
    [['endpoint', 'add', '-h'], { name: 'help' }],
    [['--version'], { name: 'version' }],
    [['endpoint', 'list'], { name: 'endpoint list' }],
    [
      ['endpoint', 'add', 'tcp://a:1'],
      { name: 'endpoint add', address: 'tcp://a:1', databases: [] },
    ],
    [
      ['endpoint', 'add', '--databases', 'a,b', 'tcp://a:1', '--data=x'],
      { name: 'endpoint add', address: 'tcp://a:1', databases: ['a', 'b'] },
    ],
    [
      ['endpoint', 'add', 'tcp://a:1', '--databases=b'],
      { name: 'endpoint add', address: 'tcp://a:1', databases: ['b'] },
    ],
    [['endpoint', 'remove', 'tcp://a:1'], { name: 'endpoint remove', address: 'tcp://a:1' }],
  ])('understands %j', (argv, command) => {
    expect(parse(...argv)).toMatchObject({ ok: true, command })
  })

  it.each([
    [['stop'], 'There is no command stop'],
    [['start', 'now'], 'now is none'],
    [['endpoint'], 'endpoint takes list, add ADDRESS or remove ADDRESS'],
    [['endpoint', 'add'], 'needs an address'],
    [['endpoint', 'remove', 'a', 'b'], 'b is too much'],
    [['endpoint', 'list', 'a'], 'endpoint takes list'],
    [['endpoint', 'list', '--databases', 'a'], 'There is no flag --databases'],
  ])('refuses %j with a sentence', (argv, says) => {
    expect(parse(...argv)).toEqual({ ok: false, faults: [expect.stringContaining(says)] })
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
