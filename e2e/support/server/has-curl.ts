import { spawnSync } from 'node:child_process'

/** Whether curl is installed, which `.ci/test.ts` does if it can. */
export const hasCurl = spawnSync('curl', ['--version']).status === 0
