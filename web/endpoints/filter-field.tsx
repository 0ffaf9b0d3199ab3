import { CloseButton, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import classes from './filter-field.module.css'

/** The filter of the table, which acts as one types; Esc empties it. */
export function FilterField({
  text,
  onChange,
}: {
  text: string
  onChange: (text: string) => void
}) {
  // The URL follows a moment behind the typing: what is typed stays as it is until the URL differs
  // from what was last sent to it.
  const [typed, setTyped] = useState(text)
  const sent = useRef(text)
  useEffect(() => {
    if (text === sent.current) return
    sent.current = text
    setTyped(text)
  }, [text])
  const change = (next: string) => {
    setTyped(next)
    sent.current = next
    onChange(next)
  }
  return (
    <TextInput
      type="search"
      className={classes.field}
      aria-label="Filter endpoints"
      placeholder="Filter: 8530 state:failed db:shop"
      leftSection={<IconSearch size={16} stroke={1.5} aria-hidden="true" />}
      rightSection={
        typed !== '' && (
          <CloseButton
            size={24}
            iconSize={14}
            aria-label="Clear filters"
            onClick={() => change('')}
          />
        )
      }
      value={typed}
      spellCheck={false}
      autoComplete="off"
      onChange={(event) => change(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || typed === '') return
        event.preventDefault()
        change('')
      }}
    />
  )
}
