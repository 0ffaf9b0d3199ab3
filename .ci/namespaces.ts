import { runCommand } from './run-command.ts'

/** What the tests do: two networks of their own, joined by a pair of interfaces and a bridge. */
const TRIAL =
  'unshare -n sh -c "ip link add name a type veth peer name b && ip link add name c type bridge"'

/**
 * Whether networks can be made here, apart from that of the machine: that takes root, or what many
 * containers forbid, and iproute2.
 */
export const hasNamespaces = () => works(TRIAL)

/** Whether a disk in memory can be mounted here, seen by one process and what it starts alone. */
export const hasMounts = () => works('unshare -m mount -t tmpfs none /mnt')

async function works(command: string): Promise<boolean> {
  if (process.platform !== 'linux') return false
  return (await runCommand('sh', ['-c', command], { limit: 10, quiet: true })) === 0
}
