import { execFile } from 'node:child_process'
import { cpSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'

export const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')

/** Paths that are not part of a Git checkout. */
const LOCAL = /^(?:\.git|data|dist|test-results|.*node_modules)$/

/** The packed files of both packages. */
export interface Tarballs {
  readonly server: string
  readonly oauth2Client: string
}

/**
 * Builds and packs a copy of the checkout in `folder`, because other tests read the build of the
 * checkout itself.
 *
 * @param env added to the environment of the build
 */
export async function packCopy(
  folder: string,
  env: Readonly<Record<string, string>>,
): Promise<Tarballs> {
  const copy = join(folder, 'checkout')
  cpSync(root, copy, { recursive: true, filter: (path) => !LOCAL.test(relative(root, path)) })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'dir')
  // With the NODE_ENV of tests, the build would contain the development build of React.
  const options = { cwd: copy, env: { ...process.env, NODE_ENV: 'production', ...env } }
  await run('npm', ['run', 'build'], options)
  const pack = async (place: string) => {
    // Skips "prepack", which has just run, and "prepare", which is for a checkout.
    const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder, place]
    const { stdout } = await run('npm', args, options)
    const [, file] = /"filename": "([^"]+)"/.exec(stdout) ?? []
    if (file === undefined) throw new Error(`npm pack names no file:\n${stdout}`)
    return join(folder, file)
  }
  return { server: await pack('.'), oauth2Client: await pack('./dist/oauth2-client') }
}

/** Returns the names of the files in an npm tarball, without its folder `package`. */
export async function listTarball(file: string): Promise<string[]> {
  const { stdout } = await run('tar', ['-tf', file])
  return stdout
    .trim()
    .split('\n')
    .map((name) => name.replace(/^package\//, ''))
    .sort()
}

/** Creates a project in `folder` that depends on the tarball. */
export async function installTarball(folder: string, tarball: string): Promise<void> {
  writeFileSync(join(folder, 'package.json'), '{}')
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund']
  await run('npm', ['install', ...quiet, tarball], { cwd: folder })
}
