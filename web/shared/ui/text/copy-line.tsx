import { CopyButton } from './copy-button.tsx'
import classes from './copy-line.module.css'

/** What {@link CopyLine} holds out. */
export interface CopyLineProps {
  readonly label: string
  readonly text: string
  /** What is copied is called this, where its text is not to be read out. */
  readonly name?: string
}

/** A text to be taken elsewhere, whole and in mono, with a button that copies it. */
export function CopyLine({ label, text, name }: CopyLineProps) {
  return (
    <div>
      <p className={classes.label}>{label}</p>
      <div className={classes.line}>
        <code className={`mono ${classes.text}`}>{text}</code>
        <CopyButton text={text} {...(name === undefined ? {} : { name })} />
      </div>
    </div>
  )
}
