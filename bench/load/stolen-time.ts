import { readFileSync } from 'node:fs'

/** Columns of `/proc/stat` before those of guests, which the others include (proc_stat(5)). */
const COLUMNS = 8
/** The column of the time that the host gave to other machines. */
const STEAL = 7

function readTimes(): { readonly stolen: number; readonly total: number } {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1)
  const times = line
    .trim()
    .split(/ +/)
    .slice(1, 1 + COLUMNS)
    .map(Number)
  return { stolen: times[STEAL] ?? 0, total: times.reduce((sum, time) => sum + time, 0) }
}

/**
 * Returns a function that returns the share of the CPU time since the call that the host of
 * this virtual machine gave to others, such as `5 %`.
 */
export function watchStolenTime(): () => string {
  const begun = readTimes()
  return () => {
    const { stolen, total } = readTimes()
    const share = (stolen - begun.stolen) / Math.max(1, total - begun.total)
    return `${Math.round(share * 100)} %`
  }
}
