const units = ['kB', 'MB', 'GB', 'TB'] as const

/** Formats a number of bytes with decimal units: "0 B", "640 B", "1.2 kB", "64 MB". */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  let rest = bytes / 1_000
  let unit = 0
  // Prevents 999.95 kB from being shown as 1000 kB.
  while (rest >= 999.5 && unit < units.length - 1) {
    rest /= 1_000
    unit++
  }
  return `${rest < 9.95 ? rest.toFixed(1) : Math.round(rest)} ${units[unit]}`
}
