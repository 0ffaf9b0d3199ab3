import { useState } from 'react'
import { announce } from '../announce.tsx'

/**
 * Copies text to the clipboard. Resolves to whether it succeeded. Browsers provide
 * `navigator.clipboard` only over HTTPS and on localhost, so the fallback is
 * `document.execCommand`.
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyBySelection(text)
  }
}

function copyBySelection(text: string): boolean {
  const before = document.activeElement
  const field = document.createElement('textarea')
  field.value = text
  field.readOnly = true
  field.className = 'visually-hidden'
  document.body.append(field)
  field.select()
  const copied = document.execCommand('copy')
  field.remove()
  if (before instanceof HTMLElement) before.focus()
  return copied
}

/**
 * Returns the text that was copied last, for a button that then says "Copied", and a function that
 * copies text and announces whether it succeeded. `name` is what is copied, such as "The link".
 */
export function useCopied(): [string | undefined, (text: string, name: string) => Promise<void>] {
  const [copied, setCopied] = useState<string>()
  const copy = async (text: string, name: string) => {
    const done = await copyText(text)
    setCopied(done ? text : undefined)
    announce(done ? `${name} was copied.` : `${name} could not be copied.`)
  }
  return [copied, copy]
}
