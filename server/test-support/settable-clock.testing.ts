// Loaded into a server before its own modules (`--import`): SIGUSR2 sets its clock to the next of
// these differences from the clock of the machine.

const DIFFERENCES = [3_600_000, -3_600_000, 0]

const RealDate = Date
let jumps = 0
let difference = 0

globalThis.Date = class extends RealDate {
  constructor(...parameters: unknown[]) {
    if (parameters.length === 0) super(now())
    else super(...(parameters as [number]))
  }

  static override now(): number {
    return now()
  }
} as DateConstructor

function now(): number {
  return RealDate.now() + difference
}

process.on('SIGUSR2', () => {
  difference = DIFFERENCES[jumps++ % DIFFERENCES.length] ?? 0
})
