import { runCommand } from '../run-command.ts'

/**
 * Installs a Debian package. Requires root and apt-get.
 *
 * @returns whether it was installed
 */
export async function installFromDebian(name: string): Promise<boolean> {
  if (process.getuid?.() !== 0) return false
  const env = { DEBIAN_FRONTEND: 'noninteractive' }
  if ((await runCommand('apt-get', ['--version'], { limit: 10, quiet: true })) !== 0) return false
  process.stdout.write(`Installing ${name} from Debian's packages.\n`)
  // Old package lists name versions that no longer exist. A failed update may not matter.
  await runCommand('apt-get', ['update', '-q'], { env, limit: 120 })
  const args = ['install', '-y', '-q', '--no-install-recommends', name]
  return (await runCommand('apt-get', args, { env, limit: 240 })) === 0
}
