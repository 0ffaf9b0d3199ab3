import { runCommand } from '../run-command.ts'
import { installFromDebian } from './debian.ts'

const works = async () =>
  (await runCommand('sh', ['-c', 'command -v pebble && command -v pebble-challtestsrv'], {
    limit: 10,
    quiet: true,
  })) === 0

/** Returns whether Pebble, an ACME directory for tests, is installed; installs it if possible. */
export const findPebble = async (): Promise<boolean> =>
  (await works()) || ((await installFromDebian('pebble')) && (await works()))
