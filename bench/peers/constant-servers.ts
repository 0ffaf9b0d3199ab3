import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nextHost, respondsOk } from '../servers/address.ts'
import { makeFolder } from '../servers/folder.ts'
import { type Subject, startProcess } from '../servers/process.ts'

/** Web servers and proxies that respond to every request with the same JSON, as one process. */
export const CONSTANT_SERVERS = ['nginx', 'caddy', 'haproxy'] as const
export type ConstantServer = (typeof CONSTANT_SERVERS)[number]

export const isInstalled = (program: string) => spawnSync(program, ['-v']).error === undefined

/** Returns the configuration file and the arguments of a program. `folder` is its own. */
const CONFIGURATIONS: Readonly<
  Record<
    ConstantServer,
    (to: { folder: string; file: string; address: string; text: string }) => {
      readonly config: string
      readonly args: readonly string[]
    }
  >
> = {
  nginx: ({ folder, file, address, text }) => ({
    config: `daemon off;
master_process off;
pid ${folder}/pid;
error_log stderr crit;
events {}
http {
  access_log off;
  keepalive_requests 1000000000;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((use) => `${use}_temp_path ${folder}/${use};`).join(' ')}
  server {
    listen ${address};
    default_type application/json;
    location / { return 200 '${text}'; }
  }
}
`,
    args: ['-p', folder, '-e', 'stderr', '-c', file],
  }),
  caddy: ({ file, address, text }) => ({
    config: JSON.stringify({
      admin: { disabled: true },
      logging: { logs: { default: { level: 'ERROR' } } },
      apps: {
        http: {
          servers: {
            constant: {
              listen: [address],
              protocols: ['h1'],
              automatic_https: { disable: true },
              routes: [
                {
                  handle: [
                    {
                      handler: 'static_response',
                      status_code: 200,
                      headers: { 'Content-Type': ['application/json'] },
                      body: text,
                    },
                  ],
                },
              ],
            },
          },
        },
      },
    }),
    args: ['run', '--config', file],
  }),
  haproxy: ({ file, address, text }) => ({
    config: `defaults
  mode http
  timeout client 60s
frontend constant
  bind ${address}
  http-request return status 200 content-type application/json string '${text}'
`,
    args: ['-db', '-f', file],
  }),
}

/** Starts a program with its own address; `text` contains neither single quotes nor `$`. */
export async function startConstantServer(
  program: ConstantServer,
  port: number,
  text: string,
): Promise<{ readonly host: string; readonly server: Pick<Subject, 'process'> }> {
  const host = nextHost()
  const folder = makeFolder(`${program}-${host}`)
  const file = join(folder, 'config')
  const address = `${host}:${port}`
  const { config, args } = CONFIGURATIONS[program]({ folder, file, address, text })
  writeFileSync(file, config)
  const env = { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder }
  const server = await startProcess(program, args, env, () => respondsOk(host, port, '/'))
  return { host, server }
}
