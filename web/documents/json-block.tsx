import classes from './json-block.module.css'

/** JSON to be read: it scrolls by itself, also by the keyboard. */
export function JsonBlock({ label, text }: { label: string; text: string }) {
  return (
    <section aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <pre className={`mono ${classes.block}`} tabIndex={0}>
        {text}
      </pre>
    </section>
  )
}
