import { readdir, readFile, readlink } from 'node:fs/promises'
import { endianness } from 'node:os'
import { expect } from 'vitest'

/** A socket that accepts connections, as the kernel shows it. */
export interface ListeningSocket {
  /** As an endpoint's address would be printed: `tcp://127.0.0.1:80`, `unix:///run/a.sock`. */
  readonly address: string
  readonly inode: string
}

/** `TCP_LISTEN` of include/net/tcp_states.h, as proc_pid_net(5) shows it. */
const TCP_LISTEN = '0A'

/** `__SO_ACCEPTCON` of include/uapi/linux/net.h: the socket listens. */
const ACCEPTS = 0x10000

/** Reads the sockets that listen out of `/proc/net/tcp` or `/proc/net/tcp6` (proc_pid_net(5)). */
export function parseTcp(text: string): ListeningSocket[] {
  return rows(text).flatMap(([, local = '', , state, , , , , , inode = '']) => {
    if (state !== TCP_LISTEN) return []
    const [host = '', port = ''] = local.split(':')
    return [{ address: `tcp://${formatHost(host)}:${Number.parseInt(port, 16)}`, inode }]
  })
}

/** Reads the sockets that listen, and have a path, out of `/proc/net/unix`. */
export function parseUnix(text: string): ListeningSocket[] {
  return rows(text).flatMap(([, , , flags = '', , , inode = '', ...path]) => {
    const listens = (Number.parseInt(flags, 16) & ACCEPTS) !== 0
    // Abstract ones begin with "@".
    if (!listens || !path[0]?.startsWith('/')) return []
    return [{ address: `unix://${path.join(' ')}`, inode }]
  })
}

/**
 * The addresses on which a process of this machine accepts connections, sorted: those sockets the
 * kernel lists as listening that are among its open files. To the kernel `ssl://` is `tcp://` too.
 */
export async function listeningAddresses(pid: number): Promise<string[]> {
  const read = (name: string) => readFile(`/proc/${pid}/net/${name}`, 'utf8').catch(() => '')
  // The files first: a socket opened in between would otherwise look like one without a row.
  const inodes = await socketInodes(pid)
  const sockets = [
    ...parseTcp(await read('tcp')),
    ...parseTcp(await read('tcp6')),
    ...parseUnix(await read('unix')),
  ]
  // The kernel prints a few rows at a time: one that others of its kind shift comes twice.
  const own = new Map(
    sockets.filter(({ inode }) => inodes.has(inode)).map(({ inode, address }) => [inode, address]),
  )
  return [...own.values()].sort()
}

/**
 * Expects a process to accept connections on these addresses and on no others.
 *
 * For the same reason one row in very many is left out by the kernel: what seems to be missing is
 * looked for again. What is too much is not.
 */
export async function expectListening(pid: number, addresses: readonly string[]): Promise<void> {
  let now = await listeningAddresses(pid)
  for (let again = 0; again < 3 && addresses.some((each) => !now.includes(each)); again++) {
    now = await listeningAddresses(pid)
  }
  expect(now).toEqual([...addresses].sort())
}

const rows = (text: string): string[][] =>
  text
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/ +/))

/** The kernel prints each 32 bits of an address as one number, in the order of this machine. */
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
    // One may be closed while we look.
    (await readdir(folder)).map((name) => readlink(`${folder}/${name}`).catch(() => '')),
  )
  return new Set(links.flatMap((link) => /^socket:\[([0-9]+)\]$/.exec(link)?.[1] ?? []))
}
