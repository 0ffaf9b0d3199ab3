import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { root } from './run-command.ts'

/**
 * Returns the files of a checkout, including changed and untracked ones, and excluding ignored ones
 * and those that are deleted but still in git's index.
 */
export const listSources = (folder = root): string[] =>
  execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: folder,
    encoding: 'utf8',
  })
    .split('\0')
    .filter((file) => file !== '' && existsSync(path.join(folder, file)))
