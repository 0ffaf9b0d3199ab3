// The kernel drops a signal to the first process of a container (PID 1) that has no handler for it.
// Without these handlers, no signal but SIGKILL would stop such a process before its command is
// loaded.

const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** Exits with the code that a shell reports for a process that a signal ended. */
function exit(this: NodeJS.Process, _name: NodeJS.Signals, number: number): void {
  this.exit(128 + number)
}

/** Makes signals end the process if it is PID 1. Others end by default. */
export function handleEarlySignals(process: NodeJS.Process): void {
  if (process.pid !== 1) return
  for (const signal of SIGNALS) process.on(signal, exit)
}

/** Leaves the signals to the handlers of the command, which must be installed already. */
export function stopHandlingEarlySignals(process: NodeJS.Process): void {
  for (const signal of SIGNALS) process.off(signal, exit)
}
