import { write } from 'node:fs'
import { Socket } from 'node:net'
import { Writable } from 'node:stream'

/** Maximum size of the lines that wait to be written, in characters or bytes. */
const MAX_WAITING = 4 * 1024 * 1024

/** Delay before another attempt to write to a file, such as on a full disk, ms. */
const RETRY_DELAY = 1_000

/** Standard output as the destination of the log. It never blocks the process. */
export interface LogOutput {
  /** Writes a line in the background. Drops it if too many wait, or if no program can read it. */
  write(line: string): void
  /** Number of lines that were dropped. */
  readonly dropped: number
}

/** Opens the {@link LogOutput}. Errors of standard output no longer affect the exit code. */
export function openLogOutput(stdout: NodeJS.WriteStream & { readonly fd: number }): LogOutput {
  const { fd } = stdout
  stdout.removeAllListeners('error').on('error', () => {})
  const stream = stdout instanceof Socket ? stdout : createFileStream(fd)
  // Node.js blocks while a terminal is paused, or while the log driver of a container does not read
  // its terminal. Not in the types.
  const { _handle: handle } = stdout as { _handle?: { setBlocking?(on: boolean): void } }
  if (stdout.isTTY) handle?.setBlocking?.(false)
  let dropped = 0
  return {
    write(line) {
      if (stream.writableLength + line.length > MAX_WAITING) dropped++
      else stream.write(line, (error) => void (error && dropped++))
    },
    get dropped() {
      return dropped
    },
  }
}

/** For a file, to which `process.stdout` would write synchronously. */
function createFileStream(fd: number): Writable {
  const append = (data: Buffer, done: () => void) =>
    write(fd, data, (error, written) => {
      if (error !== null) setTimeout(append, RETRY_DELAY, data, done).unref()
      else if (written < data.length) append(data.subarray(written), done)
      else done()
    })
  return new Writable({
    write: (chunk, _, done) => append(chunk, done),
    writev: (chunks, done) => append(Buffer.concat(chunks.map(({ chunk }) => chunk)), done),
  })
}
