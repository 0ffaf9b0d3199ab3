import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { countTests, summarize } from './count.ts'
import { root, runCommand, STOPPED } from './run-command.ts'
import { EVENTS_VARIABLE, readEvents } from './test-events.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-ci-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Writes a module and returns its path. */
function write(name: string, text: string): string {
  const file = path.join(folder, name)
  writeFileSync(file, text)
  return file
}

test('the output of a command is complete when it ends, with its background processes', async () => {
  let printed = ''
  const script = 'echo first; echo second >&2; (sleep 9; echo late) & exit 3'
  const options = { limit: 600, print: (part: string) => (printed += part) }
  expect(await runCommand('sh', ['-c', script], options)).toBe(3)
  expect(printed.split('\n').sort()).toEqual(['', 'first', 'second'])
})

describe('a command with a progress timeout', () => {
  const options = (file: string, limit: number) => ({
    limit: 600,
    progress: { file, limit },
    quiet: true,
  })

  // The timeout is longer than a process takes to start on a busy machine.
  test('runs past the timeout while the file grows', async () => {
    const file = path.join(folder, 'events')
    const script = `const fs = require('node:fs')
      let left = 110
      setInterval(() => {
        fs.appendFileSync(process.argv[1], 'x')
        if (--left === 0) process.exit(0)
      }, 200)`
    expect(await runCommand('node', ['-e', script, file], options(file, 20))).toBe(0)
    expect(readFileSync(file, 'utf8')).toBe('x'.repeat(110))
  })

  test('is stopped when the file stops growing', async () => {
    const file = path.join(folder, 'events')
    const script = `require('node:fs').writeFileSync(process.argv[1], 'x'); setInterval(() => {}, 1000)`
    expect(await runCommand('node', ['-e', script, file], options(file, 3))).toBe(STOPPED)
  })
})

describe('a stage that hangs in a test', () => {
  const count = async (command: string, args: readonly string[]) => {
    const file = path.join(folder, `${command}-events`)
    const exitCode = await runCommand(command, args, {
      limit: 600,
      // Longer than a runner takes to start on a busy machine.
      progress: { file, limit: 60 },
      quiet: true,
      env: { [EVENTS_VARIABLE]: file },
    })
    const events = readEvents(file)
    return countTests(exitCode, events && summarize(events))
  }
  const cases = (from: string) => `import { expect, test } from '${from}'
    test('one', () => {})
    test('two', () => expect(1).toBe(2))
    test('three', () => {})
    test('hangs', () => new Promise(() => {}))
    test('never', () => {})`
  const expected = {
    passed: 2,
    failed: 2,
    notes: [
      expect.stringMatching(/^failed: slow\.\w+\.ts: two – /),
      expect.stringMatching(/^did not finish \(exit code 124\): 1 tests were running/),
      expect.stringMatching(/^was running: slow\.\w+\.ts: hangs$/),
    ],
  }

  const vitest = () => {
    write('slow.test.ts', cases('vitest'))
    const reporter = path.join(import.meta.dirname, 'vitest-reporter.ts')
    return ['run', 'slow.test', '--root', folder, '--testTimeout=600000', `--reporter=${reporter}`]
  }

  const playwright = () => {
    write('slow.spec.ts', cases('@playwright/test'))
    const reporter = path.join(import.meta.dirname, 'playwright-reporter.ts')
    const config = write(
      'playwright.config.ts',
      `export default {
        testMatch: '*.spec.ts', timeout: 600000, workers: 1, reporter: [['${reporter}']]
      }`,
    )
    return ['test', '--config', config]
  }

  test('keeps the counts of Vitest and of Playwright', async () => {
    symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'), 'dir')
    const counts = [count('vitest', vitest()), count('playwright', playwright())]
    expect(await Promise.all(counts)).toEqual([expected, expected])
  })
})
