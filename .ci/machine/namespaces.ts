import { runCommand } from '../run-command.ts'

/** Creates a network namespace, a veth pair and a bridge, as the tests do. */
const TRIAL =
  'unshare -n sh -c "ip link add name a type veth peer name b && ip link add name c type bridge"'

/**
 * Returns whether network namespaces can be created. This requires iproute2 and root, and many
 * containers forbid it.
 */
export const hasNamespaces = () => works(TRIAL)

/** Returns whether a tmpfs can be mounted in a private mount namespace. */
export const hasMounts = () => works('unshare -m mount -t tmpfs none /mnt')

async function works(command: string): Promise<boolean> {
  if (process.platform !== 'linux') return false
  return (await runCommand('sh', ['-c', command], { limit: 10, quiet: true })) === 0
}
