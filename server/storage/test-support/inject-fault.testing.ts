import { spawn } from 'node:child_process'
import { once } from 'node:events'

export interface InjectedFault {
  /** System calls to fail, such as `fsync,fdatasync`. */
  readonly calls: string
  /** File whose calls fail. */
  readonly path: string
  /** Error code, such as `EIO`. */
  readonly error: string
}

/**
 * Makes system calls of a running process fail, with strace (`*.strace.test.ts` only).
 *
 * @returns a function that stops it and returns how many calls failed.
 */
export async function injectFault(
  pid: number,
  { calls, path, error }: InjectedFault,
): Promise<() => Promise<number>> {
  const strace = spawn(
    'strace',
    [
      ...['-f', '-p', String(pid), '-P', path],
      ...['-e', `trace=${calls}`, '-e', `inject=${calls}:error=${error}`],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const ended = once(strace, 'close')
  let said = ''
  await new Promise<void>((resolve, reject) => {
    strace.once('error', reject)
    strace.once('close', () => reject(new Error(`strace ended:\n${said}`)))
    strace.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text
      if (said.includes(`Process ${pid} attached`)) resolve()
    })
  })
  return async () => {
    strace.kill('SIGINT')
    await ended
    return said.split('(INJECTED)').length - 1
  }
}
