import { useEffect, useState } from 'react'
import { announce } from '../announce.tsx'
import { IconCheck, IconCopy } from '../icon/icons.tsx'
import { IconButton } from '../layout/icon-button.tsx'
import { copyText } from './copy-text.ts'

/** How long the check mark is shown after copying, in milliseconds. */
const TICK_MS = 1_500

// Created once: the button is in every row, and React skips identical elements.
const tick = <IconCheck />
const sheets = <IconCopy />

/** Button that copies text and confirms it. `name` replaces secret or long text in labels. */
export function CopyButton({
  text,
  name = text,
  onCopied,
  ...attributes
}: {
  text: string
  name?: string
  onCopied?: (() => void) | undefined
  className?: string
  tabIndex?: number
}) {
  const [last, setLast] = useState<string>()
  const copied = last === text
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setLast(undefined), TICK_MS)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = async () => {
    const done = await copyText(text)
    setLast(done ? text : undefined)
    if (done) onCopied?.()
    announce(done ? `${name} was copied.` : `${name} could not be copied.`)
  }
  return (
    <IconButton
      {...attributes}
      aria-label={`Copy ${name}`}
      onClick={copy}
      data-copied={copied || undefined}
    >
      {copied ? tick : sheets}
    </IconButton>
  )
}
