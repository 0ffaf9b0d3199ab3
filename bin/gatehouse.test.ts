import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
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

/** The Node.js of the machine, often older than the one that npm installed; otherwise this one. */
const machineNode = ['/usr/bin/node', '/usr/local/bin/node'].find(existsSync) ?? process.execPath

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

function gatehouse(args: string[], node: string = machineNode, nodeArgs: string[] = []): Run {
  const child = spawn(node, [...nodeArgs, path.join(folder, 'bin/gatehouse.js'), ...args], {
    cwd: folder,
    env: { ...process.env, MARK: 'kept', NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
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

describe('the command gatehouse', () => {
  test('runs the server with the Node.js that npm installed', async () => {
    const { stdout, code } = await gatehouse(['exit', '0']).end
    expect(code).toBe(0)
    const { version } = lastLine(stdout) as { version: string }
    expect(Number(version.slice(1).split('.')[0])).toBeGreaterThanOrEqual(24)
  })

  test('passes arguments, working folder and environment to the server, and returns its exit code', async () => {
    const { stdout, stderr, code } = await gatehouse(['exit', '42', '--a b', '', '*', '--help']).end
    expect(lastLine(stdout)).toMatchObject({ rest: ['42', '--a b', '', '*', '--help'] })
    expect(lastLine(stdout)).toMatchObject({ mark: 'kept', cwd: folder })
    expect(stderr).toBe('')
    expect(code).toBe(42)
  })

  test('limits the memory of the server', async () => {
    const { stdout } = await gatehouse(['exit', '0']).end
    const { flags } = lastLine(stdout) as { flags: string[] }
    expect(flags).toEqual(expect.arrayContaining(NODE_FLAGS))
  })

  test.each(['SIGKILL', 'SIGTERM', 'SIGABRT'])('ends by %s when the server does', async (name) => {
    expect(await gatehouse(['die', name]).end).toMatchObject({ code: null, signal: name })
  })

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'forwards %s to the server once',
    async (name) => {
      const { child, printed, end } = gatehouse([name])
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

  test('forwards one SIGINT for Ctrl-C, although the terminal and npm both send it', async () => {
    const { child, printed, end } = gatehouse(['SIGTERM'])
    await printed('ready')
    // The child leads a process group here, as a terminal's foreground job does.
    process.kill(-(child.pid ?? Number.NaN), 'SIGINT')
    await printed('SIGINT')
    child.kill('SIGINT')
    child.kill('SIGTERM')
    expect(lastLine((await end).stdout)).toEqual({ SIGINT: 1, SIGTERM: 1, SIGHUP: 0 })
  })

  test('stops the server when it is killed', async () => {
    const { child, printed, end } = gatehouse(['SIGTERM'])
    await printed('ready')
    child.kill('SIGKILL')
    const { stdout, signal } = await end
    expect(signal).toBe('SIGKILL')
    // The output is closed, so the server has exited.
    expect(lastLine(stdout)).toEqual({ SIGINT: 0, SIGTERM: 1, SIGHUP: 0 })
  })

  test('runs the server with its own Node.js if npm installed none', async () => {
    rmSync(path.join(folder, 'tools'))
    const { stdout, code } = await gatehouse(['exit', '0'], process.execPath).end
    expect(code).toBe(0)
    expect(lastLine(stdout)).toMatchObject({ version: process.version })
  })

  test('reports that an incomplete package lacks the server', async () => {
    rmSync(path.join(folder, 'server'), { recursive: true })
    const { stderr, code } = await gatehouse([]).end
    expect(stderr).toMatch(/^The server is missing from this package/)
    expect(code).toBe(1)
  })
})
