import { TextInput } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { useEscape } from '../../ui/overlay/use-escape.ts'
import { parseFilter, trimFilter } from '../model/conditions.ts'
import classes from './condition-form.module.css'
import { FilterActions } from './filter-actions.tsx'
import text from './filter-text-form.module.css'

export interface FilterTextFormProps {
  /** The active filter; empty if there is none. */
  readonly text: string
  readonly onChange: (text: string) => void
  readonly onCancel: () => void
}

/** The whole filter as text, as in the URL of the API. */
export function FilterTextForm({ text: active, onChange, onCancel }: FilterTextFormProps) {
  const [typed, setTyped] = useState(active)
  const [error, setError] = useState(() => errorOf(active))
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  useEscape('field', () => field.current === document.activeElement && onCancel())
  const submit = () => {
    const found = errorOf(typed)
    setError(found)
    if (found === undefined) onChange(trimFilter(typed))
  }
  return (
    <form
      noValidate
      aria-label="Filter as text"
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <TextInput
        ref={field}
        label="Filter"
        placeholder="author=ada & year:gte=2000"
        classNames={{ root: text.field, input: 'mono' }}
        spellCheck={false}
        autoComplete="off"
        autoCapitalize="off"
        value={typed}
        error={error}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
      <FilterActions label="Apply filter" onCancel={onCancel} />
    </form>
  )
}

function errorOf(typed: string): string | undefined {
  const parsed = parseFilter(typed)
  return 'error' in parsed ? parsed.error : undefined
}
