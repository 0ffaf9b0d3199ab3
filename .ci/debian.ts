import { runCommand } from './run-command.ts'

/**
 * Installs a package of Debian's, as root on a machine that has apt-get.
 *
 * @returns whether it worked; `false` at once where it cannot
 */
export async function installFromDebian(name: string): Promise<boolean> {
  if (process.getuid?.() !== 0) return false
  const env = { DEBIAN_FRONTEND: 'noninteractive' }
  if ((await runCommand('apt-get', ['--version'], { limit: 10, quiet: true })) !== 0) return false
  process.stdout.write(`Installing ${name} from Debian's packages.\n`)
  // Old lists name versions that are gone; failing to renew them need not matter.
  await runCommand('apt-get', ['update', '-q'], { env, limit: 120 })
  const args = ['install', '-y', '-q', '--no-install-recommends', name]
  return (await runCommand('apt-get', args, { env, limit: 240 })) === 0
}
