import type { CommanderError } from 'commander'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createProgram, type Invocation } from './program.ts'
import { SETTINGS, VARIABLES } from './settings.ts'

/** The result of a command line: a command, or output with an exit code. */
interface Outcome {
  readonly invocation?: Invocation
  readonly code?: number
  readonly printed: string
}

afterEach(() => vi.restoreAllMocks())

async function parse(...argv: string[]): Promise<Outcome> {
  let printed = ''
  let invocation: Invocation | undefined
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      printed += text
      return true
    })
  }
  const program = createProgram('1.2.3', async (given) => {
    invocation = given
  })
  try {
    await program.parseAsync(argv, { from: 'user' })
  } catch (error) {
    return { code: (error as CommanderError).exitCode, printed }
  }
  return { invocation, printed }
}

describe('createProgram', () => {
  it.each([
    [[], { name: 'start', operands: [] }],
    [['start'], { name: 'start' }],
    [['--drain', '3'], { name: 'start', settings: { drain: '3' } }],
    [['start', '--endpoint=a', '--endpoint', 'b'], { settings: { endpoint: ['a', 'b'] } }],
    [['endpoint', 'list'], { name: 'endpoint list', operands: [] }],
    [
      ['endpoint', 'add', 'tcp://a:1'],
      { name: 'endpoint add', operands: ['tcp://a:1'], options: {} },
    ],
    [
      ['endpoint', 'add', '--databases', 'a,b', 'tcp://a:1', '--data=x'],
      {
        name: 'endpoint add',
        operands: ['tcp://a:1'],
        options: { databases: 'a,b' },
        settings: { data: 'x' },
      },
    ],
    [['--data=x', 'endpoint', 'list'], { name: 'endpoint list', settings: { data: 'x' } }],
    [['endpoint', 'remove', 'tcp://a:1'], { name: 'endpoint remove', operands: ['tcp://a:1'] }],
    [
      ['token', 'create', '--name=ci', '--role', 'viewer', '--expires', '30d'],
      { name: 'token create', options: { name: 'ci', role: 'viewer', expires: '30d' } },
    ],
    [['user', 'role', 'github:1', 'admin'], { name: 'user role', operands: ['github:1', 'admin'] }],
    [['health'], { name: 'health', operands: [] }],
    [['operator-key'], { name: 'operator-key', options: {} }],
    [['operator-key', '--renew'], { name: 'operator-key', options: { renew: true } }],
    [['backup', 'folder', '--data', 'x'], { name: 'backup', operands: ['folder'] }],
    [['restore', 'folder'], { name: 'restore', operands: ['folder'] }],
    [['secrets', 'discard'], { name: 'secrets discard', operands: [] }],
    [['audit', 'verify', '--last', 'abc'], { name: 'audit verify', options: { last: 'abc' } }],
  ])('parses %j', async (argv, invocation) => {
    expect(await parse(...argv)).toMatchObject({ invocation, printed: '' })
  })

  it.each([
    [['stop'], "unknown command 'stop'"],
    [['start', 'now'], "too many arguments for 'start'. Expected 0 arguments but got 1: now"],
    [['endpoint'], 'endpoint remove ADDRESS'],
    [['endpoint', 'open'], "unknown command 'open'"],
    [['endpoint', 'add'], "missing required argument 'ADDRESS'"],
    [['backup'], "missing required argument 'FOLDER'"],
    [['restore', 'a', 'b'], 'Expected 1 argument but got 2: a, b'],
    [['endpoint', 'list', 'a'], 'Expected 0 arguments but got 1: a'],
    [['endpoint', 'list', '--databases', 'a'], "unknown option '--databases'"],
    [['--nonsense'], "unknown option '--nonsense'"],
    [['token', 'create', '--name', 'a'], "required option '--role <ROLE>' not specified"],
    [['user', 'role', 'github:1'], "missing required argument 'ROLE'"],
    [['operator-key', '--renew=yes'], "unknown option '--renew=yes'"],
    [['--node'], "option '--node <NAME>' argument missing"],
    [['--node='], "option '--node <NAME>' argument '' is invalid. Enter a value."],
    [['--node', '--log=info'], "option '--node <NAME>' argument '--log=info' is invalid"],
    [
      ['--endpoint', '--log=info'],
      "option '--endpoint <ADDRESS>' argument '--log=info' is invalid",
    ],
  ])('rejects %j and names the cause', async (argv, message) => {
    const { code, printed, invocation } = await parse(...argv)
    expect({ code, invocation }).toEqual({ code: 1, invocation: undefined })
    expect(printed).toContain(message)
  })

  it('prints the version', async () => {
    expect(await parse('--version')).toEqual({ code: 0, printed: '1.2.3\n' })
  })
})

describe('the help', () => {
  it.each([['--help'], ['-h'], ['help']])('of %s lists every command', async (argument) => {
    const { code, printed } = await parse(argument)
    expect(code).toBe(0)
    expect(printed).toContain('  endpoint add ADDRESS [--databases a,b]\n')
    expect(printed).toContain('  token create --name NAME --role ROLE [--databases a,b]')
  })

  it('of a command describes its options and the settings', async () => {
    const { code, printed } = await parse('endpoint', 'add', '-h')
    expect(code).toBe(0)
    expect(printed).toContain('Usage: gatehouse endpoint add [options] <ADDRESS>')
    expect(printed).toContain('--databases <a,b>')
    expect(printed).toContain('--data <FOLDER>')
  })

  it.each(SETTINGS)('describes --$flag and $env', async ({ flag, env }) => {
    const { printed } = await parse('--help')
    expect(printed).toContain(`  --${flag} `)
    expect(printed).toContain(env)
  })

  it.each(VARIABLES)('describes $env, which has no flag', async ({ env }) => {
    expect((await parse('--help')).printed).toContain(`  ${env}\n`)
  })
})
