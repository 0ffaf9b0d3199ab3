import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import path from 'node:path'
import { root, runCommand } from '../run-command.ts'
import { installFromDebian } from './debian.ts'

/** The package mirror of this machine. */
export interface Mirror {
  readonly uri: string
  /** The name of the release, such as `bookworm`. */
  readonly release: string
}

/** Returns the mirror that apt uses; `undefined` without apt or without an HTTP mirror. */
export function findMirror(): Mirror | undefined {
  const format = '$(REPO_URI) $(RELEASE)'
  const listed = spawnSync('apt-get', ['indextargets', '--format', format], { encoding: 'utf8' })
  const release = /^VERSION_CODENAME=(\w+)$/m.exec(readOsRelease())?.[1]
  if (listed.status !== 0 || release === undefined) return undefined
  const lines = listed.stdout.split('\n').map((line) => line.split(' '))
  const uri = lines.find(([from, name]) => name === release && from?.startsWith('http'))?.[0]
  if (uri === undefined) return undefined
  // Mirrors reject paths with two slashes.
  return { uri: uri.endsWith('/') ? uri.slice(0, -1) : uri, release }
}

function readOsRelease(): string {
  return existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : ''
}

/** Returns the real path of an executable on the PATH, ignoring npm's scripts. */
function findOnMachine(name: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(path.delimiter)
  const file = folders
    .filter((folder) => path.isAbsolute(folder) && !folder.includes('node_modules'))
    .map((folder) => path.join(folder, name))
    .find((each) => existsSync(each))
  return file === undefined ? undefined : realpathSync(file)
}

/** The Node.js and npm of this machine. */
export interface MachineNode {
  readonly node: string
  /** The folder of the package npm. */
  readonly npm: string
}

/**
 * Returns the machine's Node.js and npm; `undefined` if copying the file is not enough to run it in
 * another root.
 */
export function findMachineNode(): MachineNode | undefined {
  const node = findOnMachine('node')
  const npm = findOnMachine('npm')
  if (node === undefined || !npm?.endsWith('/npm/bin/npm-cli.js')) return undefined
  const { status, stdout } = spawnSync('ldd', [node], { encoding: 'utf8' })
  // Debian's own Node.js is a shared library with many dependencies.
  return status === 0 && !stdout.includes('libnode')
    ? { node, npm: path.join(npm, '../..') }
    : undefined
}

/**
 * Returns the files of the checkout, including changed and untracked ones and excluding ignored
 * ones.
 */
export const listSources = (): string[] =>
  execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\0')
    .filter((file) => file !== '' && existsSync(path.join(root, file)))

const works = async (command: string, ...args: string[]) =>
  (await runCommand(command, args, { limit: 30, quiet: true })) === 0

/**
 * Returns whether a bare Debian or Ubuntu can be created. It requires root, debootstrap (installed
 * if possible), namespaces and a reachable mirror.
 */
export async function canCreateBareRoot(): Promise<boolean> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  const mirror = findMirror()
  if (mirror === undefined || findMachineNode() === undefined) return false
  const checks = [
    () => works('git', 'rev-parse', '--git-dir'),
    () => works('unshare', '--mount', '--pid', '--fork', '--kill-child', 'true'),
    async () =>
      (await works('debootstrap', '--version')) || (await installFromDebian('debootstrap')),
    // debootstrap downloads with wget.
    () => works('wget', '-q', '--spider', `${mirror.uri}/dists/${mirror.release}/InRelease`),
  ]
  for (const check of checks) if (!(await check())) return false
  return true
}
