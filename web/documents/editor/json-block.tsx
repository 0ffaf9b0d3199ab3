import classes from './json-block.module.css'

/** JSON to be read: it scrolls by itself, also by the keyboard. `first`: it has the focus in its dialog. */
export function JsonBlock(props: { label: string; text: string; first?: boolean }) {
  const { label, text, first = false } = props
  return (
    <section aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <pre className={`mono ${classes.block}`} tabIndex={0} data-autofocus={first || undefined}>
        {text}
      </pre>
    </section>
  )
}
