import { readdir, readFile, readlink } from 'node:fs/promises'
import { endianness } from 'node:os'
import { expect } from 'vitest'
import { HEALTH_SOCKET } from '../../storage/data-folder.ts'

/** A listening socket as the kernel lists it. */
export interface ListeningSocket {
  /** In the format of endpoint addresses: `tcp://127.0.0.1:80`, `unix:///run/a.sock`. */
  readonly address: string
  readonly inode: string
}

/** `TCP_LISTEN` of include/net/tcp_states.h, in the format of proc_pid_net(5). */
const TCP_LISTEN = '0A'

/** `__SO_ACCEPTCON` of include/uapi/linux/net.h: the socket listens. */
const ACCEPTS = 0x10000

/** Parses the listening sockets in `/proc/net/tcp` or `/proc/net/tcp6` (proc_pid_net(5)). */
export function parseTcp(text: string): ListeningSocket[] {
  // Most rows are connections, of which a test run leaves thousands that are only timing out.
  return rows(text, ` ${TCP_LISTEN} `).flatMap(([, local = '', , state, , , , , , inode = '']) => {
    if (state !== TCP_LISTEN) return []
    const [host = '', port = ''] = local.split(':')
    return [{ address: `tcp://${formatHost(host)}:${Number.parseInt(port, 16)}`, inode }]
  })
}

/** Parses the listening sockets with a path in `/proc/net/unix`. */
export function parseUnix(text: string): ListeningSocket[] {
  return rows(text).flatMap(([, , , flags = '', , , inode = '', ...path]) => {
    const listens = (Number.parseInt(flags, 16) & ACCEPTS) !== 0
    // Names of abstract sockets begin with "@".
    if (!listens || !path[0]?.startsWith('/')) return []
    return [{ address: `unix://${path.join(' ')}`, inode }]
  })
}

/**
 * Returns the addresses on which a process listens, sorted: the listening sockets in the kernel's
 * tables that are among its open files, except that of `gatehouse health`. An `ssl://` endpoint
 * appears as `tcp://`.
 */
export async function listeningAddresses(pid: number): Promise<string[]> {
  const read = (name: string) => readFile(`/proc/${pid}/net/${name}`, 'utf8').catch(() => '')
  // Read the open files first: a socket opened in between would have no row in the tables.
  const inodes = await socketInodes(pid)
  const sockets = [
    ...parseTcp(await read('tcp')),
    ...parseTcp(await read('tcp6')),
    ...parseUnix(await read('unix')),
  ]
  // The kernel prints a few rows at a time, so concurrent changes can repeat a row.
  const own = new Map(
    sockets.filter(({ inode }) => inodes.has(inode)).map(({ inode, address }) => [inode, address]),
  )
  return [...own.values()].filter((address) => !address.endsWith(`/${HEALTH_SOCKET}`)).sort()
}

/**
 * Expects a process to listen on exactly these addresses.
 *
 * Concurrent changes can also make the kernel omit a row, so missing addresses are looked up again.
 * Unexpected addresses fail immediately.
 */
export async function expectListening(pid: number, addresses: readonly string[]): Promise<void> {
  let now = await listeningAddresses(pid)
  for (let again = 0; again < 3 && addresses.some((each) => !now.includes(each)); again++) {
    now = await listeningAddresses(pid)
  }
  expect(now).toEqual([...addresses].sort())
}

/** Returns the columns of the rows that contain the text. */
const rows = (text: string, part = ''): string[][] =>
  text
    .trimEnd()
    .split('\n')
    .slice(1)
    .filter((line) => line.includes(part))
    .map((line) => line.trim().split(/ +/))

/** Formats an address. The kernel prints each 32 bits as one number in host byte order. */
function formatHost(hex: string): string {
  const words = hex.match(/.{8}/g) ?? []
  const bytes = words.flatMap((word) => {
    const four = [...Buffer.from(word, 'hex')]
    return endianness() === 'LE' ? four.reverse() : four
  })
  if (bytes.length === 4) return bytes.join('.')
  const groups = Array.from({ length: 8 }, (_, at) =>
    (((bytes[at * 2] ?? 0) << 8) | (bytes[at * 2 + 1] ?? 0)).toString(16),
  )
  return new URL(`http://[${groups.join(':')}]`).hostname
}

async function socketInodes(pid: number): Promise<Set<string>> {
  const folder = `/proc/${pid}/fd`
  const links = await Promise.all(
    // A file may be closed in between.
    (await readdir(folder)).map((name) => readlink(`${folder}/${name}`).catch(() => '')),
  )
  return new Set(links.flatMap((link) => /^socket:\[([0-9]+)\]$/.exec(link)?.[1] ?? []))
}
