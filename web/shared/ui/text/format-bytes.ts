const units = ['kB', 'MB', 'GB', 'TB'] as const

/** A number of bytes in the unit that suits it, of 1,000 each: "0 B", "640 B", "1.2 kB", "64 MB". */
export function sayBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  let rest = bytes / 1_000
  let unit = 0
  // 999.95 kB would be shown as 1000 kB.
  while (rest >= 999.5 && unit < units.length - 1) {
    rest /= 1_000
    unit++
  }
  return `${rest < 9.95 ? rest.toFixed(1) : Math.round(rest)} ${units[unit]}`
}

const whole = new Intl.NumberFormat('en')

/** A whole number with its thousands set apart: "12,345". */
export const sayCount = (count: number): string => whole.format(count)
