import { availableParallelism, loadavg } from 'node:os'
import { quantile } from './load/statistics.ts'
import { watchStolenTime } from './load/stolen-time.ts'

export const print = (line = '') => process.stdout.write(`${line}\n`)

/** Formats a number with thousands separators. */
export const count = (number: number) => Math.round(number).toLocaleString('en')

/** Formats the median and the quartiles. */
export const spread = (numbers: readonly number[], format: (number: number) => string) =>
  `${format(quantile(numbers))} (${format(quantile(numbers, 0.25))}–${format(quantile(numbers, 0.75))})`

export const verdict = (isMet: boolean) => (isMet ? 'met' : 'NOT MET')

const machineLoad = () => (loadavg()[0] ?? 0).toFixed(1)
const begun = performance.now()
const stolenTime = watchStolenTime()

/** Prints the version of Node.js, the machine and its load at the start. */
export function printMachine(more = ''): void {
  const machine = `${availableParallelism()} cores, load ${machineLoad()} at the start`
  print(`Node.js ${process.version}, ${more}${machine}`)
}

/** Prints the duration of the run, the load at the end, and the time that the host took. */
export function printEnd(): void {
  const seconds = (performance.now() - begun) / 1_000
  const load = `load ${machineLoad()} at the end`
  print(`${Math.round(seconds)} s, ${load}, ${stolenTime()} of the CPU time stolen by the host`)
}

/** Ends the process with an error after `duration` ms. */
export function limitDuration(duration: number): void {
  setTimeout(() => {
    process.stderr.write('The run took too long and was stopped.\n')
    process.exit(1)
  }, duration).unref()
}
