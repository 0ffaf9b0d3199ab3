import { installFromDebian } from './debian.ts'
import { runCommand } from './run-command.ts'

/** The tests start processes through strace, and attach it to running ones. */
const TRIAL = 'strace -o /dev/null true && { sleep 1 & strace -o /dev/null -p $!; }'

const works = async () => (await runCommand('sh', ['-c', TRIAL], { limit: 10, quiet: true })) === 0

/**
 * Whether system calls can be watched here, with strace installed first if it can be: some
 * containers forbid it, and other systems do not have it.
 */
export async function findStrace(): Promise<boolean> {
  if (process.platform !== 'linux') return false
  return (await works()) || ((await installFromDebian('strace')) && (await works()))
}
