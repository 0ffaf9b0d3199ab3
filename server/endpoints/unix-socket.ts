import { chmod, lstat, stat, unlink } from 'node:fs/promises'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { systemCode } from '../failure.ts'

/** Owner and group may connect; nobody else. */
const MODE = 0o660

/**
 * Makes way for a socket at `path`: a file that a dead process left is removed.
 *
 * @throws an error with the code `EADDRINUSE` where somebody listens, `EEXIST` where the file is not
 * a socket, or the file system's own.
 */
export async function clearStaleSocket(path: string): Promise<void> {
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
  if (await answers(path)) throw coded('EADDRINUSE', `${path} is listened on`)
  await unlink(path)
}

/** Gives a socket just made its mode, 0660. */
export const restrictSocket = (path: string): Promise<void> => chmod(path, MODE)

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
