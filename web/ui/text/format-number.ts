const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const tenth = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

/** Shown if there is no figure, as opposed to 0. */
export const NO_FIGURE = '–'

/** Formats a count: "0", "12", "1,204". */
export const formatCount = (count: number): string => whole.format(count)

/** Formats a rate, with one decimal below 10: "0.4", "2", "1,204". */
export const formatRate = (rate: number): string => (rate < 10 ? tenth : whole).format(rate)

/** Formats a rate with enough decimals for rates below 1: "0.05", "2.5", "1,000". */
export const formatPerSecond = (rate: number): string => (rate < 1 ? `${rate}` : formatRate(rate))

const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** Formats a number of bytes with decimal units: "0 B", "640 B", "1.2 kB", "64 MB". */
export function formatBytes(bytes: number): string {
  let amount = bytes
  let unit = 0
  // Prevents 999.95 kB from being shown as 1000 kB.
  while (amount >= 999.5 && unit < units.length - 1) {
    amount /= 1_000
    unit += 1
  }
  return `${unit === 0 ? formatCount(amount) : formatRate(amount)} ${units[unit]}`
}

const binaryUnits = ['KiB', 'MiB', 'GiB'] as const

/** Formats a number of bytes in binary units if it is a round number of them: "1 MiB". */
export function formatBinary(bytes: number): string {
  const at = binaryUnits.findLastIndex((_, power) => bytes % 1_024 ** (power + 1) === 0)
  if (at === -1) return formatBytes(bytes)
  return `${formatCount(bytes / 1_024 ** (at + 1))} ${binaryUnits[at]}`
}
