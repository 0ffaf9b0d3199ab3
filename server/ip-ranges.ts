import { BlockList, isIP } from 'node:net'

/**
 * Returns a function that tells whether an IP address is in a list of addresses and CIDR ranges.
 * Each family has its own list: in a common one, `::/0` would include IPv4 addresses. IPv4-mapped
 * addresses and ranges count as IPv4.
 *
 * @throws if a text is neither an address nor a range; see {@link isIpRange}.
 */
export function createRangeMatch(ranges: readonly string[]): (address: string) => boolean {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const range of ranges) {
    const [text = '', bits] = range.split('/')
    const address = withoutMapping(text)
    const family = familyOf(address)
    if (bits === undefined) lists[family].addAddress(address, family)
    else {
      const length = /^[0-9]{1,3}$/.test(bits) ? Number(bits) : -1
      lists[family].addSubnet(address, address === text ? length : length - MAPPED_BITS, family)
    }
  }
  return (text) => {
    const address = withoutMapping(text)
    const family = familyOf(address)
    return lists[family].check(address, family)
  }
}

const familyOf = (address: string) => (isIP(address) === 4 ? 'ipv4' : 'ipv6')

/** Length of the prefix of IPv4-mapped addresses (RFC 4291 §2.5.5.2). */
const MAPPED_BITS = 96

/** Returns whether a text is an IP address without a zone, or a CIDR range. */
export function isIpRange(text: string): boolean {
  try {
    createRangeMatch([text])
    // An address with a zone, as in fe80::1%eth0, is valid for Node but never matches.
    return !text.includes('%') && text.split('/').length <= 2
  } catch {
    return false
  }
}

/** Matches an IPv4-mapped IPv6 address, in both forms that an IPv6 address can have. */
const MAPPED = /^::ffff:(?:([0-9.]{7,15})|([0-9a-f]{1,4}):([0-9a-f]{1,4}))$/i

/** Returns an IPv4-mapped IPv6 address as an IPv4 address; others as they are. */
export function withoutMapping(address: string): string {
  if (!address.startsWith(':')) return address
  const [, dotted, high, low] = MAPPED.exec(address) ?? []
  if (dotted !== undefined) return dotted
  if (high === undefined || low === undefined) return address
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)]
  return `${a >> 8}.${a & 255}.${b >> 8}.${b & 255}`
}

/**
 * Returns the network of a client: its IPv4 address, or the /64 prefix of its IPv6 address, because
 * a client can choose the other 64 bits freely (RFC 4291 §2.5.4).
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const [head = '', tail] = address.toLowerCase().split('::')
  const groups = (text = '') => text.split(':').filter((group) => group !== '')
  const [before, after] = [groups(head), groups(tail)]
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length
  const all = [...before, ...Array<string>(Math.max(0, zeros)).fill('0'), ...after]
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
