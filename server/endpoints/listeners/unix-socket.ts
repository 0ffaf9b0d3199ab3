import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type BigIntStats, lstatSync, renameSync } from 'node:fs'
import { chmod, lstat, readFile, realpath, stat, unlink } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { platform } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { Failure, systemCode } from '../../failure.ts'

/** Only the owner and the group may connect. */
const MODE = 0o660

/**
 * Folders of the system and of other services, and sockets of other services, which programs trust. A
 * server that runs as root could create a socket there while the service is stopped.
 */
const FOREIGN = [
  ...['/boot', '/dev', '/etc', '/proc', '/root', '/sys'],
  ...['/run/containerd', '/run/crio', '/run/dbus', '/run/docker', '/run/docker.sock'],
  ...['/run/podman', '/run/rpcbind.sock', '/run/snapd.socket', '/run/systemd', '/run/udev'],
]

/** The folder of `/dev` in which every program can create files. */
const SHARED_MEMORY = '/dev/shm'

const isIn = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`)

/** The permission bit that lets users other than owner and group write to a folder. */
const OTHERS_WRITE = 0o002

/**
 * Checks the path of a new socket, with symbolic links to its folder resolved.
 *
 * @param reserved folders that hold the database or keys. A socket there could take the name of a
 * file that the database creates later, such as its journal.
 * @throws Failure `bad-parameter`; the file system's error if the folder does not exist.
 */
export async function requireSafeFolder(path: string, reserved: readonly string[]): Promise<void> {
  const folder = await realpath(dirname(path))
  const reservedFolders = await Promise.all(
    reserved.map((each) => realpath(each).catch(() => undefined)),
  )
  if (reservedFolders.includes(folder)) {
    throw new Failure(
      'bad-parameter',
      `${folder} contains the data or the keys of this server. Choose another folder for the socket.`,
    )
  }
  const resolved = join(folder, basename(path)).replace(/^\/var\/run\//, '/run/')
  if (!isIn(resolved, SHARED_MEMORY) && FOREIGN.some((each) => isIn(resolved, each))) {
    throw new Failure(
      'bad-parameter',
      `${resolved} belongs to the system or to another service. Choose another path, such as /run/gatehouse.sock.`,
    )
  }
  const { mode } = await stat(folder)
  if (platform() !== 'win32' && (mode & OTHERS_WRITE) !== 0) {
    throw new Failure(
      'bad-parameter',
      `Any user can write to ${folder}. Choose a folder that only its owner and its group can write to.`,
    )
  }
}

/**
 * Checks for an existing file at the path of a socket. Returns `free`, or `stale` for a socket left
 * by a dead process.
 *
 * @throws an error with the code `EADDRINUSE` if a process listens, `EEXIST` if the file is not a
 * socket, or the file system's error.
 */
export async function findSocket(path: string, bound = boundSockets): Promise<'free' | 'stale'> {
  const found = await lstat(path).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  })
  if (found === undefined) {
    // Throws ENOENT for a missing folder, which libuv's bind would report as EACCES.
    await stat(dirname(path))
    return 'free'
  }
  if (!found.isSocket()) throw errorWithCode('EEXIST', `${path} is not a socket`)
  if ((await bound()).has(path) || (await accepts(path))) {
    throw errorWithCode('EADDRINUSE', `${path} is in use`)
  }
  return 'stale'
}

/**
 * Removes a stale socket at `path`, if there is one.
 *
 * @throws as {@link findSocket}; `EADDRINUSE` if another process is removing it.
 */
export async function clearStaleSocket(path: string, bound = boundSockets): Promise<void> {
  if ((await findSocket(path, bound)) === 'free') return
  // Two processes that find the stale socket must not both remove it: the second one would remove
  // the new socket of the first, which would then listen without being reachable.
  const lock = await acquireLock(path)
  try {
    if ((await findSocket(path, bound)) === 'stale') await unlink(path)
  } finally {
    lock?.close()
  }
}

/**
 * Locks the path of a socket until the returned server closes or the process ends, by an abstract
 * socket, which only Linux has. Its name contains no path: see {@link boundSockets}.
 */
async function acquireLock(path: string): Promise<Server | undefined> {
  if (platform() !== 'linux') return undefined
  const name = createHash('sha256').update(path).digest('hex')
  const server = createServer((socket) => socket.destroy())
  server.listen(`\0gatehouse-${name}`)
  await once(server, 'listening')
  return server
}

/** Sets the mode of a new socket to 0660. Returns its file, for {@link closeUnixServer}. */
export async function restrictSocket(path: string): Promise<BigIntStats> {
  await chmod(path, MODE)
  return lstat(path, { bigint: true })
}

/**
 * Closes the server of a Unix socket. libuv deletes the file at the path of the socket, even if it is
 * another one. Such a file is therefore renamed until the server is closed.
 *
 * @param socket the file of the socket, as it was when the server was bound.
 */
export function closeUnixServer(server: Server, path: string, socket: BigIntStats): void {
  const found = server.listening ? lstatOf(path) : undefined
  const isReplaced = found !== undefined && isOtherFile(found, socket)
  const moved = `${path}.${randomUUID()}`
  // Where a file cannot be renamed, libuv cannot remove it either.
  const isMoved = isReplaced && tryRename(path, moved)
  server.close()
  if (isMoved) tryRename(moved, path)
}

/** Returns whether the file of a socket was deleted, moved or replaced. */
export async function isSocketLost(path: string, socket: BigIntStats): Promise<boolean> {
  try {
    const found = await lstat(path, { bigint: true })
    return isOtherFile(found, socket)
  } catch (error) {
    // Other errors, such as EACCES, say nothing about the file.
    return systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR'
  }
}

const isOtherFile = (found: BigIntStats, socket: BigIntStats): boolean =>
  found.ino !== socket.ino || found.dev !== socket.dev

function tryRename(from: string, to: string): boolean {
  try {
    renameSync(from, to)
    return true
  } catch {
    return false
  }
}

function lstatOf(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true })
  } catch {
    return undefined
  }
}

/**
 * Returns the paths of bound sockets. They include sockets that do not listen yet, which refuse
 * connections like stale files. Empty on systems other than Linux.
 */
export async function boundSockets(): Promise<ReadonlySet<string>> {
  const table = await readFile('/proc/net/unix', 'utf8').catch(() => '')
  return new Set(table.split('\n').map((line) => line.slice(line.indexOf('/'))))
}

/** Whether a process accepts connections at the path. Any error but ECONNREFUSED counts as yes. */
function accepts(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path)
    probe.once('connect', () => {
      probe.destroy()
      resolve(true)
    })
    probe.once('error', (error) => resolve(systemCode(error) !== 'ECONNREFUSED'))
  })
}

const errorWithCode = (code: string, message: string) => Object.assign(new Error(message), { code })
