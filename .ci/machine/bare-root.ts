import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, lstatSync, realpathSync } from 'node:fs'
import path from 'node:path'
import { runCommand } from '../run-command.ts'

/** An installed Debian package. */
interface DebianPackage {
  /** Its name, with the architecture where several are installed. */
  readonly name: string
  readonly essential: boolean
  /** Each entry lists the alternatives that satisfy one dependency. */
  readonly dependencies: readonly (readonly string[])[]
}

/** Splits a package field such as `libc6 (>= 2.36), perl:any | perl-base`. */
const parseNames = (field: string) =>
  field
    .split(',')
    .map((names) => names.split('|').map((name) => name.replace(/[(:].*/s, '').trim()))
    .filter(([first]) => first !== '')

/** Returns the installed packages by their names and by the virtual packages that they provide. */
function listInstalledPackages(): Map<string, DebianPackage> {
  const names = ['Package', 'binary:Package', 'db:Status-Status', 'Essential']
  const fields = [...names, 'Pre-Depends', 'Depends', 'Provides']
  const format = `${fields.map((field) => `\${${field}}`).join('\t')}\n`
  const listed = spawnSync('dpkg-query', ['--show', '--showformat', format], { encoding: 'utf8' })
  const packages = new Map<string, DebianPackage>()
  if (listed.status !== 0) return packages
  const virtual = new Map<string, DebianPackage>()
  for (const line of listed.stdout.split('\n').slice(0, -1)) {
    const [id = '', name = '', status, essential, before = '', depends = '', provides = ''] =
      line.split('\t')
    if (status !== 'installed') continue
    const dependencies = [...parseNames(before), ...parseNames(depends)]
    const each = { name, essential: essential === 'yes', dependencies }
    packages.set(id, each)
    for (const [provided = ''] of parseNames(provides)) virtual.set(provided, each)
  }
  return new Map([...virtual, ...packages])
}

/**
 * Returns the files of this machine that a bare Debian or Ubuntu with git has: those of the
 * essential packages, apt and git, and of the packages that these depend on. They include no
 * compiler, for example.
 *
 * @returns `undefined` on another system, or if git was not installed as a package
 */
export function listBareFiles(): string[] | undefined {
  const packages = listInstalledPackages()
  const [apt, git] = [packages.get('apt'), packages.get('git')]
  if (apt === undefined || git === undefined) return undefined
  const bare = new Set([...packages.values()].filter(({ essential }) => essential))
  for (const each of bare.add(apt).add(git)) {
    for (const alternatives of each.dependencies) {
      const found = alternatives.map((name) => packages.get(name)).find((one) => one !== undefined)
      if (found !== undefined) bare.add(found)
    }
  }
  const names = [...bare].map(({ name }) => name)
  const options = { encoding: 'utf8', maxBuffer: 64 << 20 } as const
  const files = execFileSync('dpkg-query', ['--listfiles', ...names], options).split('\n')
  // Images often lack documentation. Lines that do not start with a slash describe diversions.
  const exists = (file: string) => lstatSync(file, { throwIfNoEntry: false }) !== undefined
  const found = files.filter((file) => file.startsWith('/') && exists(file))
  // Without the links in their folders, such as /bin.
  const real = found.map((file) => path.join(realpathSync(path.dirname(file)), path.basename(file)))
  return [...new Set(real)]
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

const works = async (command: string, ...args: string[]) =>
  (await runCommand(command, args, { limit: 30, quiet: true })) === 0

/**
 * Returns whether a bare Debian or Ubuntu can be created. It requires root, namespaces, and a Debian
 * or Ubuntu with git.
 */
export async function canCreateBareRoot(): Promise<boolean> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  if (listBareFiles() === undefined || findMachineNode() === undefined) return false
  return (
    (await works('git', 'rev-parse', '--git-dir')) &&
    (await works('unshare', '--mount', '--pid', '--fork', '--kill-child', 'true'))
  )
}
