import { execFile } from 'node:child_process'
import { expect } from 'vitest'
import type { StoreLocation } from '../../../storage/open.ts'
import { MAIN, SECRETS, storeFlags } from '../../../test-support/server-process.testing.ts'
import type { TestResponse } from '../../../test-support/start.testing.ts'
import { pick, type Random } from '../settings.testing.ts'
import type { CommandOperation, Model } from './model.testing.ts'

/**
 * The secrets in the environment of the nodes of a store: none on SQLite, whose data folder has
 * them.
 */
export const secretsOf = (location: StoreLocation): Readonly<Record<string, string>> =>
  'data' in location ? {} : SECRETS

/**
 * Runs a command of `gatehouse` beside the nodes of a store. Rejects if it is killed.
 *
 * @param signal kills the command.
 */
export const runCommand = (
  location: StoreLocation,
  words: readonly string[],
  signal?: AbortSignal,
): Promise<TestResponse> =>
  new Promise((resolve, reject) => {
    const args = [MAIN, ...words, ...storeFlags(location)]
    const env = { PATH: process.env.PATH, ...secretsOf(location) }
    const options = { env, signal, killSignal: 'SIGKILL' } as const
    const child = execFile(process.execPath, args, options, (error, stdout, stderr) => {
      if (error !== null && child.exitCode === null) return reject(error)
      const [status, text] = error === null ? [200, stdout] : [409, stderr]
      resolve({ status, text, headers: {}, json: undefined })
    })
  })

/** Runs a command that changes nothing, and compares what it prints with the model. */
export function runReadingCommand(
  model: Model,
  random: Random,
  admins: readonly string[],
): CommandOperation {
  const lines = [
    ...admins.map((address) => `${address}\t*`),
    ...Object.entries(model.endpoints).map(([address, names]) => `${address}\t${names.join(',')}`),
  ]
  return pick(random, [
    {
      command: ['endpoint', 'list'],
      after: [model],
      async finish({ text }) {
        expect(text.trim().split('\n').sort()).toEqual(lines.sort())
      },
    },
    {
      command: ['audit', 'verify'],
      after: [model],
      async finish({ text }) {
        expect(text).toMatch(/^[0-9]+:[0-9a-f]{64}\n$/)
      },
    },
  ] satisfies CommandOperation[])
}
