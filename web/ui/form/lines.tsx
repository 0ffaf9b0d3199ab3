import { Textarea, type TextareaProps } from '@mantine/core'
import classes from './lines.module.css'

/** Shows the description of a field below it. */
export const BELOW: NonNullable<TextareaProps['inputWrapperOrder']> = [
  'label',
  'input',
  'description',
  'error',
]

/** A monospaced text: one address or name per line, or PEM. */
export const Lines = (props: TextareaProps) => (
  <Textarea
    classNames={{ input: `mono ${classes.lines}` }}
    rows={3}
    spellCheck={false}
    autoComplete="off"
    autoCapitalize="off"
    inputWrapperOrder={BELOW}
    {...props}
    onFocus={(event) => {
      // The browser itself scrolls only to the cursor.
      event.currentTarget.scrollIntoView({ block: 'nearest' })
      props.onFocus?.(event)
    }}
  />
)
