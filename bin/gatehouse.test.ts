import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { NODE_FLAGS } from './node-flags.js'

const here = fileURLToPath(new URL('.', import.meta.url))
const tools = fileURLToPath(new URL('../tools', import.meta.url))

/** Replaces the server: reports how it was started, counts signals, and exits on request. */
const SERVER = `
const [task = '', ...rest]: string[] = process.argv.slice(2)
const told: Record<string, number> = { SIGINT: 0, SIGTERM: 0, SIGHUP: 0 }
const say = (value: unknown) => process.stdout.write(JSON.stringify(value) + '\\n')
if (task === 'exit') {
  say({ rest, version: process.version, flags: process.execArgv, cwd: process.cwd(), mark: process.env.MARK })
  process.exitCode = Number(rest[0])
} else if (task === 'die') {
  process.kill(process.pid, rest[0])
} else {
  const alive = setInterval(() => {}, 60_000)
  for (const signal of Object.keys(told)) {
    process.on(signal, () => {
      told[signal]! += 1
      if (signal === task) {
        clearInterval(alive)
        process.exitCode = 7
        process.stdout.write(JSON.stringify(told))
      } else say(signal)
    })
  }
  say('ready')
}
`

let folder: string
const started: ChildProcess[] = []

beforeEach(() => {
  // A copy of bin beside a test server: the command finds the server relative to its own location.
  folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-bin-'))
  mkdirSync(path.join(folder, 'bin'))
  mkdirSync(path.join(folder, 'server'))
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(path.join(folder, 'server/main.ts'), SERVER)
  writeFileSync(
    path.join(folder, 'pretend.mjs'),
    "Object.defineProperty(process, 'version', { value: 'v20.1.0' })",
  )
  for (const name of readdirSync(here).filter((file) => file.endsWith('.js'))) {
    copyFileSync(path.join(here, name), path.join(folder, 'bin', name))
  }
  symlinkSync(tools, path.join(folder, 'tools'), 'dir')
})

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

interface Run {
  readonly child: ChildProcess
  /** Resolves when the server has printed the text. */
  readonly printed: (text: string) => Promise<void>
  /** Resolves when the command and the server, which shares its output, have both exited. */
  readonly end: Promise<{
    code: number | null
    signal: string | null
    stdout: string
    stderr: string
  }>
}

function gatehouse(args: string[], isOld = false, nodeOptions = '', nodeFlags: string[] = []): Run {
  const pretend = isOld ? ['--import', path.join(folder, 'pretend.mjs')] : []
  const words = [...nodeFlags, ...pretend, path.join(folder, 'bin/gatehouse.js'), ...args]
  const child = spawn(process.execPath, words, {
    cwd: folder,
    env: {
      ...process.env,
      MARK: 'kept',
      NODE_OPTIONS: nodeOptions,
      // `npm test` sets a folder for compiled code.
      NODE_COMPILE_CACHE: '',
      XDG_CACHE_HOME: folder,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  started.push(child)
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr?.on('data', (chunk) => {
    stderr += chunk
  })
  const end = once(child, 'close').then(([code, signal]) => ({ code, signal, stdout, stderr }))
  return {
    child,
    end,
    printed: async (text) => {
      while (!stdout.includes(text)) {
        const more = child.stdout && once(child.stdout, 'data')
        const over = await Promise.race([more, end])
        if (over && 'stdout' in over && !stdout.includes(text)) {
          throw new Error(`"${text}" was never printed:\n${stdout}${stderr}`)
        }
      }
    },
  }
}

function lastLine(text: string): unknown {
  return JSON.parse(text.trimEnd().split('\n').at(-1) ?? '')
}

const FLAGS = NODE_FLAGS.join(' ')

describe.each([
  ['a Node.js that is new enough', false, ''],
  ['a Node.js that has the flags', false, FLAGS],
  ['an old Node.js', true, ''],
])('the command gatehouse on %s', (_, isOld, nodeOptions) => {
  test('passes arguments, working folder and environment to the server, and returns its exit code', async () => {
    const args = ['exit', '42', '--a b', '', '*', '--help']
    const { stdout, stderr, code } = await gatehouse(args, isOld, nodeOptions).end
    expect(lastLine(stdout)).toMatchObject({ rest: ['42', '--a b', '', '*', '--help'] })
    expect(lastLine(stdout)).toMatchObject({ mark: 'kept', cwd: folder })
    expect(stderr).toBe('')
    expect(code).toBe(42)
  })

  test.each(['SIGKILL', 'SIGTERM', 'SIGABRT'])('ends by %s when the server does', async (name) => {
    expect(await gatehouse(['die', name], isOld, nodeOptions).end).toMatchObject({
      code: null,
      signal: name,
    })
  })

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'passes %s to the server once',
    async (name) => {
      const { child, printed, end } = gatehouse([name], isOld, nodeOptions)
      await printed('ready')
      child.kill(name)
      const { stdout, code } = await end
      expect(lastLine(stdout.replace('"ready"\n', ''))).toEqual({
        SIGINT: 0,
        SIGTERM: 0,
        SIGHUP: 0,
        [name]: 1,
      })
      expect(code).toBe(7)
    },
  )

  test('opens no debugger on SIGUSR1', async () => {
    const { child, printed, end } = gatehouse(['SIGTERM'], isOld, nodeOptions)
    await printed('ready')
    child.kill('SIGUSR1')
    child.kill('SIGTERM')
    expect(await end).toMatchObject({ code: 7, stderr: '' })
  })
})

describe('the command gatehouse', () => {
  test('adds the flags that limit the memory of the server', async () => {
    const { stdout } = await gatehouse(['exit', '0']).end
    expect(lastLine(stdout)).toMatchObject({ flags: expect.arrayContaining(NODE_FLAGS) })
  })

  test.each([
    ['one of the flags', NODE_FLAGS[0], 'server/main.ts'],
    ['all flags', FLAGS, 'bin/gatehouse.js'],
  ])('starts Node.js with %s in NODE_OPTIONS', async (_, nodeOptions, program) => {
    writeFileSync(
      path.join(folder, 'server/main.ts'),
      'console.log(process.argv[1], process.env.NODE_COMPILE_CACHE)',
    )
    const { stdout } = await gatehouse([], false, nodeOptions).end
    expect(stdout).toBe(`${path.join(folder, program)} ${path.join(folder, 'gatehouse')}\n`)
    expect(readdirSync(path.join(folder, 'gatehouse'))).not.toEqual([])
  })

  test('passes on other flags of Node.js', async () => {
    const flag = '--max-old-space-size=100'
    const { stdout } = await gatehouse(['exit', '0'], false, '', [flag]).end
    expect(lastLine(stdout)).toMatchObject({ flags: [...NODE_FLAGS, flag] })
  })

  test('has its flags in the image, which has the Node.js that accepts them', () => {
    const text = readFileSync(path.join(here, '..', 'Dockerfile'), 'utf8')
    expect(text.replaceAll('"', '')).toContain(`NODE_OPTIONS=${FLAGS}`)
    // The first endpoint may be removed, or have another scheme.
    expect(text).toMatch(/^HEALTHCHECK .*\\\n +CMD \["gatehouse", "health"\]$/m)
  })

  test('runs the server in its own process, without the warning that SQLite is experimental', async () => {
    writeFileSync(
      path.join(folder, 'server/main.ts'),
      "await import('node:sqlite'); process.emitWarning('kept'); console.log(process.pid)",
    )
    const { child, end } = gatehouse([])
    const { stdout, stderr } = await end
    expect(stdout).toBe(`${child.pid}\n`)
    expect(stderr).toMatch(/^\(node:\d+\) Warning: kept\n/)
    expect(stderr).not.toContain('Experimental')
  })

  test('runs the server with the Node.js that npm installed if its own is old', async () => {
    const { stdout, code } = await gatehouse(['exit', '0'], true).end
    expect(code).toBe(0)
    const { version } = lastLine(stdout) as { version: string }
    expect(Number(version.slice(1).split('.')[0])).toBeGreaterThanOrEqual(24)
  })

  test('stops a server in another process when it is killed', async () => {
    const { child, printed, end } = gatehouse(['SIGTERM'], true)
    await printed('ready')
    child.kill('SIGKILL')
    const { stdout, signal } = await end
    expect(signal).toBe('SIGKILL')
    // The output is closed, so the server has exited.
    expect(lastLine(stdout)).toEqual({ SIGINT: 0, SIGTERM: 1, SIGHUP: 0 })
  })

  test('reports that an incomplete package lacks the server', async () => {
    rmSync(path.join(folder, 'server'), { recursive: true })
    const { stderr, code } = await gatehouse([]).end
    expect(stderr).toMatch(/^The server is missing from this package/)
    expect(code).toBe(1)
  })
})

describe('the cache for compiled code', () => {
  const cache = () => path.join(folder, 'gatehouse')

  test.each([
    ['a Node.js that is new enough', false],
    ['an old Node.js', true],
  ])('is filled by %s, and can be read only by the user', async (_, isOld) => {
    expect(await gatehouse(['exit', '0'], isOld).end).toMatchObject({ code: 0 })
    expect(readdirSync(cache())).not.toEqual([])
    expect(statSync(cache()).mode & 0o777).toBe(0o700)
  })

  test.each([
    ['a folder that others can write', () => mkdirSync(cache()), () => chmodSync(cache(), 0o777)],
    [
      'a link to another folder',
      () => mkdirSync(path.join(folder, 'other')),
      () => symlinkSync('other', cache()),
    ],
    ['a file', () => writeFileSync(cache(), ''), () => {}],
  ])('is not used if it is %s', async (_, create, alter) => {
    create()
    alter()
    const before = readdirSync(folder, { recursive: true }).length
    expect(await gatehouse(['exit', '0']).end).toMatchObject({ code: 0, stderr: '' })
    expect(readdirSync(folder, { recursive: true })).toHaveLength(before)
  })
})
