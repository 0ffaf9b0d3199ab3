import { runCommand } from '../run-command.ts'
import { installFromDebian } from './debian.ts'

const works = async () =>
  (await runCommand('curl', ['--version'], { limit: 10, quiet: true })) === 0

const find = async () => (await works()) || ((await installFromDebian('curl')) && (await works()))

let found: Promise<boolean> | undefined

/** Returns whether curl, with which tests run documented commands, works; installs it if possible. */
export function findCurl(): Promise<boolean> {
  found ??= find()
  return found
}
