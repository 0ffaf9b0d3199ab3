/**
 * Returns a timestamp for file names: `20260131T140211Z`. It sorts and is valid on all file
 * systems.
 */
export const fileTime = (now: Date): string => now.toISOString().replace(/[-:]|\.\d+/g, '')

/** Downloads text, or other content, as a file. */
export function saveFile(name: string, content: string | Blob, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The download starts within the current task.
  setTimeout(() => URL.revokeObjectURL(url))
}
