import { useState } from 'react'
import { announce } from '../announce.tsx'
import { copyText } from './copy-text.ts'

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
