import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { respondsOk } from '../servers/address.ts'
import { makeFolder } from '../servers/folder.ts'
import { type Subject, startProcess } from '../servers/process.ts'

export const JSON_SERVER = '0.17.4'

/** Installs json-server into a folder; returns its entry point, or undefined if that fails. */
function installJsonServer(folder: string): string | undefined {
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

/**
 * Installs json-server into a folder of the run and starts it with articles, with its default
 * logging: with --quiet it is a third faster. Returns undefined if it cannot be installed.
 */
export async function startJsonServer(
  { host, port }: { host: string; port: number },
  articles: readonly { readonly id: string }[],
): Promise<Pick<Subject, 'process' | 'stop'> | undefined> {
  const folder = makeFolder('json-server')
  const cli = installJsonServer(folder)
  if (cli === undefined) return undefined
  const file = join(folder, 'articles.json')
  writeFileSync(file, JSON.stringify({ articles }))
  return startProcess(
    process.execPath,
    [cli, '--host', host, '--port', String(port), file],
    process.env,
    () => respondsOk(host, port, `/articles/${articles[0]?.id}`),
  )
}
