import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { listSources } from '../list-sources.ts'
import { root as checkout } from '../run-command.ts'
import { findMachineNode, listBareFiles } from './bare-root.ts'

/** A Debian or Ubuntu in a folder, with only this machine's Node.js and npm, and git. */
export interface BareRoot {
  /** Its `/`, as a path outside. */
  readonly folder: string
  /** Runs a shell script in it and returns its output; rejects if the script fails. */
  readonly run: (script: string) => Promise<string>
  /** Starts a shell script in it. Killing the process ends everything that the script started. */
  readonly start: (script: string, env?: Readonly<Record<string, string>>) => ChildProcess
  readonly remove: () => Promise<void>
}

/**
 * Enters the root in new mount and process namespaces, so that no process and no mount remains
 * after the script. Arguments: the root, npm's cache and the script.
 */
const ENTER = [
  ...['--mount', '--pid', '--fork', '--kill-child', 'sh', '-ec'],
  `mount -t proc proc "$1/proc"
   mount --rbind /dev "$1/dev"
   mkdir -p "$1/root/.npm" && mount --bind "$2" "$1/root/.npm"
   exec chroot "$1" sh -ec "$3"`,
  'sh',
]

const execute = promisify(execFile)

/** Returns this machine's settings of npm by name; null if a setting is not set. */
function readNpmConfig(): Readonly<Record<string, string | null>> {
  const args = ['config', 'list', '--json', '--loglevel=error']
  return JSON.parse(execFileSync('npm', args, { cwd: tmpdir(), encoding: 'utf8' }))
}

/**
 * Copies the files of a bare system to `folder`. Its packages are not configured: nothing in the root
 * needs more than their files and the users.
 */
async function copyDebian(files: readonly string[], folder: string): Promise<void> {
  const list = `${folder}.files`
  writeFileSync(list, files.map((file) => `${file.slice(1)}\0`).join(''))
  const script = `tar --create --directory=/ --no-recursion --null --files-from="$1" |
      tar --extract --directory="$2"
    for name in passwd group; do cp "$2/usr/share/base-passwd/$name.master" "$2/etc/$name"; done`
  await execute('sh', ['-ec', script, 'sh', list, folder])
}

/** Creates a {@link BareRoot} with the files of the checkout as a repository in `/src`. */
export async function createBareRoot(): Promise<BareRoot> {
  const files = listBareFiles()
  const machine = findMachineNode()
  if (files === undefined || machine === undefined) throw new Error('no bare root can be made')
  const home = mkdtempSync(path.join(tmpdir(), 'gatehouse-bare-'))
  const folder = path.join(home, 'root')
  const inside = (file: string) => path.join(folder, file)
  const copyIn = (file: string, to = file) => {
    if (!existsSync(file) || !statSync(file).isFile()) return
    mkdirSync(path.dirname(inside(to)), { recursive: true })
    copyFileSync(file, inside(to))
  }

  mkdirSync(folder)
  await copyDebian(files, folder)
  copyIn(machine.node, '/usr/local/bin/node')
  cpSync(machine.npm, inside('/usr/local/lib/node_modules/npm'), { recursive: true })
  for (const name of ['npm', 'npx']) {
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, inside(`/usr/local/bin/${name}`))
  }
  for (const file of listSources()) {
    mkdirSync(path.dirname(inside(`/src/${file}`)), { recursive: true })
    cpSync(path.join(checkout, file), inside(`/src/${file}`))
  }

  // Copy this machine's network and registry settings.
  for (const file of ['/etc/resolv.conf', '/etc/hosts']) copyIn(file)
  const config = readNpmConfig()
  const { userconfig, globalconfig, cache } = config
  if (!userconfig || !globalconfig || !cache) throw new Error('npm lists no settings')
  copyIn(userconfig, '/root/.npmrc')
  copyIn(globalconfig)
  const settings = ['registry', 'cafile', 'proxy', 'https-proxy', 'globalconfig'].map(
    (name) => [`npm_config_${name.replace('-', '_')}`, config[name]] as const,
  )
  const network = Object.entries(process.env).filter(([name]) =>
    /^(?:https?_proxy|no_proxy|node_extra_ca_certs|ssl_cert_file|git_ssl_cainfo)$/i.test(name),
  )
  const set = [...settings, ...network].filter(([, value]) => value)
  for (const [, value] of set) if (value?.startsWith('/')) copyIn(value)
  const base = {
    ...Object.fromEntries(set),
    npm_config_cache: '/root/.npm',
    // The cache contains what `npm ci` has just installed in the checkout.
    npm_config_prefer_offline: 'true',
    npm_config_prefix: '/usr/local',
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: '/root',
    LANG: 'C.UTF-8',
  }
  mkdirSync(cache, { recursive: true })
  const enter = (script: string) => [...ENTER, folder, cache, script]
  return {
    folder,
    async run(script) {
      const options = { env: base, maxBuffer: 64 << 20 }
      const { stdout, stderr } = await execute('unshare', enter(script), options)
      return stdout + stderr
    },
    start: (script, env = {}) =>
      spawn('unshare', enter(script), { env: { ...base, ...env }, stdio: 'ignore' }),
    remove: () => rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }),
  }
}
