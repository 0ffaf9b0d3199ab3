import { Button, TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import { parseFilter } from './document-filter.ts'
import classes from './filter-form.module.css'

/** What a {@link FilterForm} shows, and whom it tells. */
export interface FilterFormProps {
  /** The filter in force; empty: none. */
  readonly text: string
  readonly onChange: (text: string) => void
}

/** Asks for a field and its value. The whole collection is searched, so only on Enter. */
export function FilterForm({ text, onChange }: FilterFormProps) {
  const [typed, setTyped] = useState(text)
  const [fault, setFault] = useState<string>()
  useEffect(() => {
    setTyped(text)
    setFault(undefined)
  }, [text])
  const submit = () => {
    const parsed = typed.trim() === '' ? undefined : parseFilter(typed)
    const found = parsed !== undefined && 'fault' in parsed ? parsed.fault : undefined
    setFault(found)
    if (found === undefined) onChange(typed.trim())
  }
  return (
    <search>
      <form
        className={classes.form}
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <TextInput
          label="Filter"
          placeholder="author=ada"
          classNames={{ root: classes.field, input: 'mono' }}
          spellCheck={false}
          autoComplete="off"
          autoCapitalize="off"
          value={typed}
          error={fault}
          onChange={(event) => setTyped(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Escape' || typed === '') return
            event.preventDefault()
            setTyped('')
            onChange('')
          }}
        />
        <Button variant="default" type="submit" className={classes.button}>
          Filter
        </Button>
        {text !== '' && (
          <Button variant="subtle" className={classes.button} onClick={() => onChange('')}>
            Clear filter
          </Button>
        )}
      </form>
    </search>
  )
}
