import { join } from 'node:path'
import { startProcess } from '../servers/process.ts'

/** Starts a file of this folder, which prints `ready` when it listens. */
export const startPeer = (file: string, ...args: readonly string[]) =>
  startProcess(
    process.execPath,
    [join(import.meta.dirname, file), ...args],
    process.env,
    async (printed) => printed().includes('ready'),
  )

/** Starts bare `node:http` with the same response to every request. */
export const startBareServer = (host: string, port: number, text: string) =>
  startPeer('constant-process.ts', host, String(port), text)
