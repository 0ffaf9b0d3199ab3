import { CloseButton, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import { sayCount } from '../ui/say-bytes.ts'
import classes from './databases-page.module.css'
import { useDatabasesLocation } from './use-databases-location.ts'

/** Narrows the databases by name as one types; Esc empties it. */
export function NameFilter({ total }: { total: number }) {
  const { search, filter } = useDatabasesLocation()
  const text = search.q ?? ''
  // The URL follows a moment behind the typing: what is typed stays until the URL differs from what
  // was last sent to it.
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
    filter(next)
  }
  return (
    <TextInput
      type="search"
      className={classes.filter}
      aria-label="Filter databases"
      placeholder={`Filter ${sayCount(total)} databases by name`}
      leftSection={<IconSearch size={16} stroke={1.5} aria-hidden="true" />}
      rightSection={
        typed !== '' && (
          <CloseButton
            size={24}
            iconSize={14}
            aria-label="Clear filter"
            onClick={() => change('')}
          />
        )
      }
      value={typed}
      spellCheck={false}
      autoComplete="off"
      autoCapitalize="off"
      onChange={(event) => change(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || typed === '') return
        event.preventDefault()
        change('')
      }}
    />
  )
}
