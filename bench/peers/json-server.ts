import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

export const JSON_SERVER = '0.17.4'

/** Installs json-server into a folder; returns its entry point, or undefined if that fails. */
export function installJsonServer(folder: string): string | undefined {
  const flags = ['--prefix', folder, '--no-audit', '--no-fund', '--silent', '--ignore-scripts']
  try {
    execFileSync('npm', ['install', ...flags, `json-server@${JSON_SERVER}`], {
      cwd: folder,
      stdio: 'ignore',
      timeout: 120_000,
    })
  } catch {
    return undefined
  }
  return join(folder, 'node_modules', 'json-server', 'lib', 'cli', 'bin.js')
}
