import { runCommand } from '../run-command.ts'
import { installFromDebian } from './debian.ts'

/** Starts a process through strace and attaches strace to a running one, as the tests do. */
const TRIAL = 'strace -o /dev/null true && { sleep 1 & strace -o /dev/null -p $!; }'

const works = async () => (await runCommand('sh', ['-c', TRIAL], { limit: 10, quiet: true })) === 0

/**
 * Returns whether strace works here, installing it if possible. Some containers forbid it, and
 * other systems do not have it.
 */
export async function findStrace(): Promise<boolean> {
  if (process.platform !== 'linux') return false
  return (await works()) || ((await installFromDebian('strace')) && (await works()))
}
