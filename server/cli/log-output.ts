import { close, constants, open, openSync, write } from 'node:fs'
import { Socket } from 'node:net'
import { Writable } from 'node:stream'
import { Failure, systemCode } from '../failure.ts'

/** Maximum size of the lines that wait to be written, in characters or bytes. */
const MAX_WAITING = 4 * 1024 * 1024

/** Delay before another attempt to write to a file, such as on a full disk, ms. */
const RETRY_DELAY = 1_000

/** How long lines of {@link LogOutput.writeSoon} wait for others, ms. */
const BATCH_DELAY = 20

/** Writes lines to a stream, such as those of the log. It never blocks the process. */
export class LogOutput {
  #dropped = 0
  /** Lines that wait for others, and their number. */
  #batch = ''
  #batched = 0
  readonly #stream: Writable

  constructor(stream: Writable) {
    this.#stream = stream
  }

  /** Writes a line in the background. Drops it if too many wait, or if no program can read it. */
  write(line: string): void {
    if (this.#stream.writableLength + line.length > MAX_WAITING) this.#dropped++
    else this.#stream.write(line, (error) => void (error && this.#dropped++))
  }

  /** Like {@link write}, together with other lines: a write costs more than a line. */
  writeSoon(line: string): void {
    if (this.#stream.writableLength + this.#batch.length + line.length > MAX_WAITING) {
      this.#dropped++
      return
    }
    this.#batch += line
    if (this.#batched++ === 0) setTimeout(() => this.#writeBatch(), BATCH_DELAY)
  }

  #writeBatch(): void {
    const lines = this.#batched
    this.#stream.write(this.#batch, (error) => {
      if (error) this.#dropped += lines
    })
    this.#batch = ''
    this.#batched = 0
  }

  /** Number of lines that were dropped. */
  get dropped(): number {
    return this.#dropped
  }
}

/**
 * Returns standard output as a stream that never blocks the process. Its errors no longer affect the
 * exit code.
 */
export function openStandardOutput(stdout: NodeJS.WriteStream & { readonly fd: number }): Writable {
  const { fd } = stdout
  stdout.removeAllListeners('error').on('error', () => {})
  // Node.js blocks while a terminal is paused, or while the log driver of a container does not read
  // its terminal. Not in the types.
  const { _handle: handle } = stdout as { _handle?: { setBlocking?(on: boolean): void } }
  if (stdout.isTTY) handle?.setBlocking?.(false)
  // To a file, `process.stdout` would write synchronously.
  return stdout instanceof Socket ? stdout : createFileStream((use) => use(null, fd))
}

/** A log file that is appended to. */
export interface LogFile {
  readonly stream: Writable
  /** Opens the file again by its name, after it was renamed. Retries until it can be opened. */
  reopen(): void
}

/** Without blocking, for named pipes that are not read. */
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK

/** Only the owner and its group can read the file: it has names and addresses. */
const MODE = 0o640

/**
 * Opens a log file, or creates it.
 *
 * @throws Failure `bad-parameter` if that is not possible.
 */
export function openLogFile(path: string): LogFile {
  let fd: number | undefined
  try {
    fd = openSync(path, APPEND, MODE)
  } catch (cause) {
    const reason =
      systemCode(cause) === 'ENXIO'
        ? `no program reads the pipe ${path}`
        : cause instanceof Error
          ? cause.message
          : String(cause)
    throw new Failure('bad-parameter', `The access log cannot be opened: ${reason}.`, { cause })
  }
  let isStale = false
  const stream = createFileStream((use) => {
    if (isStale && fd !== undefined) {
      close(fd, () => {})
      fd = undefined
    }
    isStale = false
    if (fd !== undefined) return use(null, fd)
    open(path, APPEND, MODE, (error, opened) => {
      if (error === null) fd = opened
      use(error, opened)
    })
  })
  return {
    stream,
    reopen() {
      isStale = true
      // Opens the file now instead of with the next line.
      stream.write('')
    },
  }
}

/** Calls `use` with an open file, or with the error. */
type WithFile = (use: (error: Error | null, fd: number) => void) => void

/** Returns a stream that appends to a file, and retries until it can. */
function createFileStream(withFile: WithFile): Writable {
  const append = (data: Buffer, done: () => void) => {
    const retry = () => void setTimeout(append, RETRY_DELAY, data, done).unref()
    withFile((failed, fd) => {
      if (failed !== null) return retry()
      write(fd, data, (error, written) => {
        if (error !== null) retry()
        else if (written < data.length) append(data.subarray(written), done)
        else done()
      })
    })
  }
  return new Writable({
    write: (chunk, _, done) => append(chunk, done),
    writev: (chunks, done) => append(Buffer.concat(chunks.map(({ chunk }) => chunk)), done),
  })
}
