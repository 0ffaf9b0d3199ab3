/**
 * Returns a timestamp for file names: `20260131T140211Z`. It sorts and is valid on all file
 * systems.
 */
export const fileTime = (now: Date): string => now.toISOString().replace(/[-:]|\.\d+/g, '')

/** Downloads text as a file. */
export function saveFile(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The download starts within the current task.
  setTimeout(() => URL.revokeObjectURL(url))
}
