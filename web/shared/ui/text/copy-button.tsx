import { IconCheck, IconCopy } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { announce } from './announce.tsx'
import { copyText } from './copy-text.ts'
import { IconButton } from './icon-button.tsx'

/** How long the tick stands after copying, in milliseconds. */
const TICK_MS = 1_500

// Made once: React looks no further into what is the same, and there is one in each row.
const tick = <IconCheck size={16} stroke={1.5} aria-hidden="true" />
const sheets = <IconCopy size={16} stroke={1.5} aria-hidden="true" />

/** Copies a text; says so by a tick and to screen readers. `name` stands for what is not to be said. */
export function CopyButton({
  text,
  name = text,
  ...place
}: {
  text: string
  name?: string
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
    announce(done ? `${name} was copied.` : `${name} could not be copied.`)
  }
  return (
    <IconButton
      {...place}
      aria-label={`Copy ${name}`}
      onClick={copy}
      data-copied={copied || undefined}
    >
      {copied ? tick : sheets}
    </IconButton>
  )
}
