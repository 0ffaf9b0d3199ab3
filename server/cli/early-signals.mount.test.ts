import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freePorts } from '../endpoints/listeners/free-ports.testing.ts'
import { MAIN } from '../test-support/server-process.testing.ts'

// Tests a server that is the first process of a PID namespace, like in a container.

/** Maximum time of a start and a stop on a busy machine, ms. */
const LIMIT = 60_000

let data: string
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'gatehouse-first-'))
})
afterEach(() => rmSync(data, { recursive: true, force: true }))

/** Sends the process a signal when it begins to load the command `start`. */
const signalEarly = (signal: string) =>
  `data:text/javascript,${encodeURIComponent(`
    import { registerHooks } from 'node:module'
    registerHooks({
      load(url, context, next) {
        if (/[/]start[-.][^/]*$/.test(url)) process.kill(process.pid, '${signal}')
        return next(url, context)
      }
    })`)}`

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'])(
  'a first process ends by %s while its command is loaded',
  async (signal) => {
    const [port] = await freePorts(1)
    const through = ['--pid', '--fork', '--kill-child', process.execPath]
    const flags = ['start', '--data', data, '--endpoint', `tcp://127.0.0.1:${port}`]
    const ended = await new Promise<{ code: unknown; stdout: string }>((resolve) => {
      execFile(
        'unshare',
        [...through, `--import=${signalEarly(signal)}`, MAIN, ...flags],
        { timeout: LIMIT, killSignal: 'SIGKILL' },
        (error, stdout) => resolve({ code: error === null ? 0 : error.code, stdout }),
      )
    })
    // Either by the early handler or, if the command is loaded first, by the one of the command.
    expect([0, 129, 130, 143]).toContain(ended.code)
    expect(ended.stdout).not.toContain('gatehouse is ready')
  },
)
