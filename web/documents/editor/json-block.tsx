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

/** JSON whose changed lines are marked. */
export function ComparedJsonBlock(props: { label: string; lines: readonly ComparedLines[] }) {
  const { label, lines } = props
  return (
    <section aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users scroll it */}
      <pre className={`mono ${classes.block}`} tabIndex={0}>
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
