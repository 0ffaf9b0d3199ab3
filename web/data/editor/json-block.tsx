import { useLayoutEffect, useRef } from 'react'
import type { ComparedLines } from '../model/compare-documents.ts'
import classes from './json-block.module.css'
import { JsonText } from './json-text.tsx'

/** Read-only JSON that scrolls, including by keyboard. `first` focuses it when its dialog opens. */
export function JsonBlock(props: { label: string; text: string; first?: boolean }) {
  const { label, text, first = false } = props
  return (
    <section aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users scroll it */}
      <pre className={`mono ${classes.block}`} tabIndex={0} data-autofocus={first || undefined}>
        <JsonText text={text} />
      </pre>
    </section>
  )
}

/** JSON whose changed lines are marked. It scrolls to the first of them. */
export function ComparedJsonBlock(props: { label: string; lines: readonly ComparedLines[] }) {
  const { label, lines } = props
  const block = useRef<HTMLPreElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs after the lines have changed
  useLayoutEffect(() => showChange(block.current), [lines])
  return (
    <section aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users scroll it */}
      <pre ref={block} className={`mono ${classes.block}`} tabIndex={0}>
        {lines.map(({ text, isChanged }, at) => {
          const Part = isChanged ? 'mark' : 'span'
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts have no other identity
            <Part key={at} className={classes.lines}>
              <JsonText text={text} />
            </Part>
          )
        })}
      </pre>
    </section>
  )
}

/** Centers the first changed lines of a block unless they are visible. Only the block scrolls. */
function showChange(block: HTMLElement | null): void {
  const mark = block?.querySelector('mark')
  if (block == null || mark == null) return
  const height = Math.min(mark.offsetHeight, block.clientHeight)
  const offset = mark.getBoundingClientRect().top - block.getBoundingClientRect().top
  const isVisible = offset >= 0 && offset + height <= block.clientHeight
  if (!isVisible) block.scrollTop += offset - (block.clientHeight - height) / 2
}
