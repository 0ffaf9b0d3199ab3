import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { freePorts } from '../../endpoints/listeners/free-ports.testing.ts'
import { killProcesses, MAIN, startProcess } from '../../test-support/server-process.testing.ts'
import { sendRequest, type TestResponse } from '../../test-support/start.testing.ts'

const mount = (mebibytes: number, isOnlyDisk: boolean) => {
  const mounted = `mount -t tmpfs -o size=${mebibytes}m none "$0"`
  const command = `${mounted} ${isOnlyDisk ? `&& ${MAKE_OTHERS_READ_ONLY}` : ''} && exec "$@"`
  return ['unshare', '-m', 'sh', '-c', command]
}

/** Leaves no folder for temporary files. */
const MAKE_OTHERS_READ_ONLY = `cd / && for each in / /tmp /var/tmp; do
  if mountpoint -q $each; then mount -o remount,bind,ro $each; fi
done`

export const MIB = Buffer.alloc(1024 * 1024)

/**
 * Starts a server whose data folder is on a small disk (tmpfs) that can be filled. The disk is in a
 * mount namespace that ends with the server. The server is killed at the end of the test.
 *
 * @param options.isOnlyDisk makes the other disks read-only, except those mounted elsewhere.
 */
export async function startOnSmallDisk(mebibytes = 16, { isOnlyDisk = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-full-'))
  onTestFinished(async () => {
    await killProcesses()
    rmSync(folder, { recursive: true, force: true })
  })
  const [port = 0] = await freePorts(1)
  const server = await startProcess(['--data', folder, '--endpoint', `tcp://127.0.0.1:${port}`], {
    through: [...mount(mebibytes, isOnlyDisk), folder],
  })
  // The path inside the server's mount namespace.
  const filler = `/proc/${server.pid}/root${folder}/filler`
  /** Creates a token with the command, inside the mount namespace. */
  const makeToken = (): string => {
    const command = [MAIN, 'token', 'create', '--name', 'tests', '--role', 'admin']
    const inside = ['-t', String(server.pid), '-m', process.execPath, ...command, '--data', folder]
    return execFileSync('nsenter', inside, { encoding: 'utf8' }).trim()
  }
  const token = makeToken()
  const call = (
    method: string,
    path: string,
    body?: unknown,
    headers = {},
  ): Promise<TestResponse> =>
    sendRequest(port, method, path, {
      body,
      headers: { Authorization: `Bearer ${token}`, ...headers },
    })
  /** Verifies the audit log with the command, inside the mount namespace. */
  const verifyAuditLog = (): string => {
    const command = [MAIN, 'audit', 'verify', '--data', folder]
    const inside = ['-t', String(server.pid), '-m', process.execPath, ...command]
    return execFileSync('nsenter', inside, { encoding: 'utf8' }).trim()
  }
  return {
    server,
    makeToken,
    verifyAuditLog,
    call,
    health: async () => (await call('GET', '/_api/health/ready')).json,
    fill: (rest = 0) => fillDisk(filler, rest),
    free: () => rmSync(filler),
  }
}

/** Fills the disk of a file with this file, except for some bytes. */
export function fillDisk(filler: string, rest = 0): void {
  for (const chunk of [MIB, Buffer.alloc(4_096)]) {
    try {
      for (;;) appendFileSync(filler, chunk)
    } catch (error) {
      expect(error).toMatchObject({ code: 'ENOSPC' })
    }
  }
  if (rest > 0) truncateSync(filler, statSync(filler).size - rest)
}
