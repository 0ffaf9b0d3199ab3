import { CopyButton } from './copy-button.tsx'
import classes from './copy-line.module.css'

export interface CopyLineProps {
  readonly label: string
  readonly text: string
  /** Replaces the text in labels and announcements, such as for a secret. */
  readonly name?: string
  readonly onCopied?: () => void
}

/** A label and monospaced text with a copy button. */
export function CopyLine({ label, text, name, onCopied }: CopyLineProps) {
  return (
    <div>
      <p className={classes.label}>{label}</p>
      <div className={classes.line}>
        <code className={`mono ${classes.text}`}>{text}</code>
        <CopyButton text={text} onCopied={onCopied} {...(name === undefined ? {} : { name })} />
      </div>
    </div>
  )
}
