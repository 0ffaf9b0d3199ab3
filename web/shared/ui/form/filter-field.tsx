import { CloseButton, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import classes from './filter-field.module.css'

/** What a {@link FilterField} is of. */
export interface FilterFieldProps {
  readonly label: string
  readonly placeholder: string
  /** What the cross is called. */
  readonly clear: string
  readonly text: string
  readonly onChange: (text: string) => void
  readonly onFocus?: () => void
}

/** The filter of a table, which acts as one types; Esc empties it. */
export function FilterField({ label, clear, text, onChange, ...rest }: FilterFieldProps) {
  return (
    <TextInput
      {...rest}
      type="search"
      className={classes.field}
      aria-label={label}
      leftSection={<IconSearch size={16} stroke={1.5} aria-hidden="true" />}
      rightSection={
        text !== '' && (
          <CloseButton size={24} iconSize={14} aria-label={clear} onClick={() => onChange('')} />
        )
      }
      value={text}
      spellCheck={false}
      autoComplete="off"
      autoCapitalize="off"
      onChange={(event) => onChange(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || text === '') return
        event.preventDefault()
        onChange('')
      }}
    />
  )
}
