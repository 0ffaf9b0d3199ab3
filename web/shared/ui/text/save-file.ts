/** The time in the name of a file: `20260131T140211Z`. It sorts, and stands in every file system. */
export const fileTime = (now: Date): string => now.toISOString().replace(/[-:]|\.\d+/g, '')

/** Has the browser save a text as a file, where it saves what it downloads. */
export function saveFile(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The download has begun by the next turn at the latest.
  setTimeout(() => URL.revokeObjectURL(url))
}
