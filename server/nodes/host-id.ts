import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/**
 * Returns an identifier of the machine and network of this process. Two processes with the same
 * identifier cannot both bind a port. On Linux it is the boot id and the network namespace, which
 * differs between containers; elsewhere, the host name.
 */
export function hostId(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${boot} ${readlinkSync('/proc/self/ns/net')}`
  } catch {
    return hostname()
  }
}
