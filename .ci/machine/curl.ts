import { runCommand } from '../run-command.ts'
import { installFromDebian } from './debian.ts'

const works = async () =>
  (await runCommand('curl', ['--version'], { limit: 10, quiet: true })) === 0

/** Returns whether curl is here, with which the tests run documented commands; installs it if possible. */
export const findCurl = async (): Promise<boolean> =>
  (await works()) || ((await installFromDebian('curl')) && (await works()))
