import { chmod, lstat, readFile, realpath, stat, unlink } from 'node:fs/promises'
import { connect } from 'node:net'
import { platform } from 'node:os'
import { dirname } from 'node:path'
import { Failure, systemCode } from '../failure.ts'

/** Owner and group may connect; nobody else. */
const MODE = 0o660

/** The permission bit that lets users other than owner and group write to a folder. */
const OTHERS_WRITE = 0o002

/**
 * Checks the folder that a socket is to be created in, with symbolic links resolved.
 *
 * @param reserved folders that hold the store or keys. A socket there could take the name of a file
 * that the store creates later, such as its journal.
 * @throws Failure `bad-parameter`; the file system's error where there is no such folder.
 */
export async function requireSafeFolder(path: string, reserved: readonly string[]): Promise<void> {
  const folder = await realpath(dirname(path))
  const taken = await Promise.all(reserved.map((each) => realpath(each).catch(() => undefined)))
  if (taken.includes(folder)) {
    throw new Failure(
      'bad-parameter',
      `${folder} holds the data or the keys of this server. Choose another folder for the socket.`,
    )
  }
  const { mode } = await stat(folder)
  if (platform() !== 'win32' && (mode & OTHERS_WRITE) !== 0) {
    throw new Failure(
      'bad-parameter',
      `Other users can write to ${folder}. Choose a folder that only its owner can write to.`,
    )
  }
}

/**
 * Makes way for a socket at `path`: a file that a dead process left is removed.
 *
 * @throws an error with the code `EADDRINUSE` where somebody listens, `EEXIST` where the file is not
 * a socket, or the file system's own.
 */
export async function clearStaleSocket(path: string, bound = boundSockets): Promise<void> {
  const found = await lstat(path).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  })
  if (found === undefined) {
    // A folder that is missing is reported as EACCES by libuv's bind, as Windows would.
    await stat(dirname(path))
    return
  }
  if (!found.isSocket()) throw coded('EEXIST', `${path} is not a socket`)
  if ((await bound()).has(path) || (await answers(path))) {
    throw coded('EADDRINUSE', `${path} is listened on`)
  }
  await unlink(path)
}

/** Gives a socket just made its mode, 0660. */
export const restrictSocket = (path: string): Promise<void> => chmod(path, MODE)

/**
 * Returns the paths of the sockets that processes have bound, also of those that do not listen yet:
 * connecting to these is refused, as it is to a stale file. Empty where the system does not tell; only
 * Linux does.
 */
export async function boundSockets(): Promise<ReadonlySet<string>> {
  const table = await readFile('/proc/net/unix', 'utf8').catch(() => '')
  return new Set(table.split('\n').map((line) => line.slice(line.indexOf('/'))))
}

/** Whether a process accepts connections at the path. One that we may not ask is taken for one. */
function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path)
    probe.once('connect', () => {
      probe.destroy()
      resolve(true)
    })
    probe.once('error', (error) => resolve(systemCode(error) !== 'ECONNREFUSED'))
  })
}

const coded = (code: string, message: string) => Object.assign(new Error(message), { code })
