import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/**
 * The machine and the network that this process is in: two processes at one place cannot both have a
 * port. On Linux the boot of the kernel and the network namespace, which containers on one machine
 * have each for themselves; elsewhere the name of the host.
 */
export function placeOfThisProcess(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${boot} ${readlinkSync('/proc/self/ns/net')}`
  } catch {
    return hostname()
  }
}
