import { type Ref, useLayoutEffect, useRef } from 'react'
import type { ComparedLines } from '../model/compare-documents.ts'
import classes from './json-block.module.css'
import { JsonText } from './json-text.tsx'
import type { TextRange } from './pointer-range.ts'

/** Read-only JSON that scrolls, including by keyboard. `whole` shows it in its full height. */
export function JsonBlock(props: {
  ref?: Ref<HTMLPreElement>
  label: string
  text: string
  whole?: boolean
}) {
  const { ref, label, text, whole } = props
  return (
    <section aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users scroll it */}
      <pre ref={ref} className={`mono ${classes.block}`} data-whole={whole} tabIndex={0}>
        <JsonText text={text} />
      </pre>
    </section>
  )
}

/** Highlights ranges of the text of a block, and scrolls to one of them. */
export function markRanges(block: HTMLElement | null, found: readonly TextRange[], at: number) {
  if (block === null || !('highlights' in CSS)) return
  const nodes = document.createTreeWalker(block, NodeFilter.SHOW_TEXT)
  let start = 0
  let node = nodes.nextNode()
  const ranges = found.map(({ from, to }) => {
    const range = new Range()
    const place = (index: number) => {
      while (node !== null && index > start + (node.nodeValue?.length ?? 0)) {
        start += node.nodeValue?.length ?? 0
        node = nodes.nextNode()
      }
      return [node ?? block, node === null ? 0 : index - start] as const
    }
    range.setStart(...place(from))
    range.setEnd(...place(to))
    return range
  })
  const current = ranges[at]
  CSS.highlights.set('found', new Highlight(...ranges))
  CSS.highlights.set('found-current', new Highlight(...(current ? [current] : [])))
  const scroller = block.closest('[data-panel-body]')
  if (current === undefined || scroller === null) return
  const [top, view] = [current.getBoundingClientRect().top, scroller.getBoundingClientRect()]
  if (top < view.top || top > view.bottom - 24)
    scroller.scrollTop += top - view.top - view.height / 2
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
