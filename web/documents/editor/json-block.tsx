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
