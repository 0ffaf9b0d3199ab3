import { spawnSync } from 'node:child_process'

/** Prints why the first port could not be listened on, if so. */
const PROBE =
  "require('node:net').createServer().on('error', (e) => console.log(e.code)).listen(1, '127.0.0.1', () => process.exit())"

// As it is, which suits everybody but root; and as a root that gave away the right to such ports.
const launchers: readonly (readonly string[])[] = [
  [],
  ['setpriv', '--bounding-set', '-net_bind_service', '--inh-caps', '-net_bind_service'],
]

/**
 * What to start a server with, so that the system refuses it the ports below 1024; `undefined` where
 * this machine refuses them to nobody. Tried out, as whoever runs the tests may be root.
 */
export const unprivileged: readonly string[] | undefined = launchers.find((launcher) => {
  const [command = '', ...rest] = [...launcher, process.execPath, '-e', PROBE]
  return spawnSync(command, rest, { encoding: 'utf8' }).stdout?.trim() === 'EACCES'
})
