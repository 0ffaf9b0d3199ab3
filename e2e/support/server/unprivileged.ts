import { spawnSync } from 'node:child_process'

/** Prints the error code if port 1 cannot be listened on. */
const PROBE =
  "require('node:net').createServer().on('error', (e) => console.log(e.code)).listen(1, '127.0.0.1', () => process.exit())"

// Without a launcher, which works for users other than root; or as root without the capability.
const launchers: readonly (readonly string[])[] = [
  [],
  ['setpriv', '--bounding-set', '-net_bind_service', '--inh-caps', '-net_bind_service'],
]

/**
 * A program under which a server may not use ports below 1024; `undefined` if none works on this
 * machine. Probed, because the tests may run as root.
 */
export const unprivileged: readonly string[] | undefined = launchers.find((launcher) => {
  const [command = '', ...rest] = [...launcher, process.execPath, '-e', PROBE]
  return spawnSync(command, rest, { encoding: 'utf8' }).stdout?.trim() === 'EACCES'
})
