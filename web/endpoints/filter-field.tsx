import { CloseButton, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import classes from './filter-field.module.css'

/** The filter of the table, which acts as one types; Esc empties it. */
export function FilterField({
  text,
  onChange,
  onFocus,
}: {
  text: string
  onChange: (text: string) => void
  onFocus?: () => void
}) {
  return (
    <TextInput
      type="search"
      className={classes.field}
      aria-label="Filter endpoints"
      placeholder="Filter: 8530 state:failed db:shop"
      leftSection={<IconSearch size={16} stroke={1.5} aria-hidden="true" />}
      rightSection={
        text !== '' && (
          <CloseButton
            size={24}
            iconSize={14}
            aria-label="Clear filters"
            onClick={() => onChange('')}
          />
        )
      }
      value={text}
      spellCheck={false}
      autoComplete="off"
      onFocus={onFocus}
      onChange={(event) => onChange(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || text === '') return
        event.preventDefault()
        onChange('')
      }}
    />
  )
}
