import { CloseButton, TextInput } from '@mantine/core'
import { useRef } from 'react'
import { IconSearch } from '../icon/icons.tsx'
import { useEscape } from '../overlay/use-escape.ts'
import classes from './filter-field.module.css'

export interface FilterFieldProps {
  readonly label: string
  readonly placeholder: string
  /** Accessible name of the clear button. */
  readonly clear: string
  readonly text: string
  readonly onChange: (text: string) => void
  readonly onFocus?: () => void
}

/** Filter field of a table. It applies while the user types; Escape clears it. */
export function FilterField({ label, clear, text, onChange, ...rest }: FilterFieldProps) {
  const field = useRef<HTMLInputElement>(null)
  const clearText = () => field.current === document.activeElement && onChange('')
  useEscape('field', text === '' ? undefined : clearText)
  return (
    <TextInput
      {...rest}
      ref={field}
      type="search"
      className={classes.field}
      aria-label={label}
      leftSection={<IconSearch />}
      rightSection={
        text !== '' && (
          <CloseButton
            size={24}
            iconSize={14}
            aria-label={clear}
            onClick={() => {
              onChange('')
              // The button disappears.
              field.current?.focus()
            }}
          />
        )
      }
      value={text}
      spellCheck={false}
      autoComplete="off"
      autoCapitalize="off"
      onChange={(event) => onChange(event.currentTarget.value)}
      onKeyDown={(event) => {
        // It has applied already, and must not submit the form around it.
        if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey) event.preventDefault()
      }}
    />
  )
}
