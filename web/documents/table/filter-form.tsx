import { Button, TextInput } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { useEscape } from '../../shared/ui/overlay/use-escape.ts'
import { parseFilter } from './document-filter.ts'
import classes from './filter-form.module.css'

export interface FilterFormProps {
  /** The active filter; empty if there is none. */
  readonly text: string
  readonly onChange: (text: string) => void
}

/**
 * Filter for one or more fields. It applies only on submit, because the server scans the
 * collection.
 */
export function FilterForm({ text, onChange }: FilterFormProps) {
  const [typed, setTyped] = useState(text)
  const [error, setError] = useState<string>()
  useEffect(() => {
    setTyped(text)
    setError(undefined)
  }, [text])
  const field = useRef<HTMLInputElement>(null)
  const clear = () => {
    if (field.current !== document.activeElement) return false
    setTyped('')
    onChange('')
    return true
  }
  useEscape('field', typed === '' ? undefined : clear)
  const submit = () => {
    const parsed = typed.trim() === '' ? undefined : parseFilter(typed)
    const found = parsed !== undefined && 'error' in parsed ? parsed.error : undefined
    setError(found)
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
          ref={field}
          label="Filter"
          placeholder="author=ada"
          classNames={{ root: classes.field, input: 'mono' }}
          spellCheck={false}
          autoComplete="off"
          autoCapitalize="off"
          value={typed}
          error={error}
          onChange={(event) => setTyped(event.currentTarget.value)}
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
