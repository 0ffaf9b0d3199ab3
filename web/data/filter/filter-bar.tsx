import { Button, CloseButton, TextInput } from '@mantine/core'
import { lazy, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { ApiFailure } from '../../api/client.ts'
import { useKeys } from '../../shared/keys/use-keys.ts'
import { LazyBoundary } from '../../ui/feedback/lazy-boundary.tsx'
import { IconPlus } from '../../ui/icon/icons.tsx'
import { usePhoneScreen } from '../../ui/layout/use-narrow-screen.ts'
import { useEscape } from '../../ui/overlay/use-escape.ts'
import { isolate } from '../../ui/text/with-name.tsx'
import {
  type Condition,
  describeCondition,
  formatFilter,
  parseFilter,
  trimFilter,
} from '../model/conditions.ts'
import { type CollectionRef, useDataLocation } from '../use-data-location.ts'
import form from './condition-form.module.css'
import { FilterActions } from './filter-actions.tsx'
import classes from './filter-bar.module.css'

const loadForm = () => import('./condition-form.tsx')

const preloadForm = () => void loadForm().catch(() => {})

const ConditionForm = lazy(async () => ({ default: (await loadForm()).ConditionForm }))

export interface FilterBarProps {
  readonly collectionRef: CollectionRef
  /** Why the query failed. The error of a filter is shown at the filter. */
  readonly error: Error | null
  /** Renders the buttons beside the filters. `editText` edits the filter as text. */
  readonly actions: (editText: () => void) => ReactNode
}

/** What is being edited: a condition, a new one, or the text. */
type Editing = Condition | 'new' | 'text' | undefined

/** The filters of a collection, each with buttons that edit and remove it, and its actions. */
export function FilterBar({ collectionRef, error, actions }: FilterBarProps) {
  const { search, query } = useDataLocation()
  const { filter = '' } = search
  const phone = usePhoneScreen()
  const [editing, setEditing] = useState<Editing>()
  const add = useRef<HTMLButtonElement>(null)
  const parsed = parseFilter(filter)
  const conditions = 'conditions' in parsed ? parsed.conditions : []
  const isText = editing === 'text' || 'error' in parsed
  const apply = (next: readonly Condition[]) => query({ filter: formatFilter(next) })
  const close = () => {
    setEditing(undefined)
    add.current?.focus()
  }
  /** Removes conditions. The form of another one stays open with its input. */
  const remove = (removed: readonly Condition[]) => {
    apply(conditions.filter((each) => !removed.includes(each)))
    if (removed.some((each) => isEqual(each, editing))) setEditing(undefined)
    add.current?.focus()
  }
  const edited = conditions.findIndex((each) => isEqual(each, editing))
  const wasText = useRef(isText)
  useEffect(() => {
    // The field that had the focus is removed with the form.
    if (wasText.current && !isText && document.activeElement === document.body) add.current?.focus()
    wasText.current = isText
  }, [isText])
  useKeys('anywhere', { filter: () => setEditing(isText ? 'text' : 'new') })
  const clear = !isText && conditions.length > 0 && (
    <Button variant="subtle" onClick={() => remove(conditions)}>
      Clear filters
    </Button>
  )
  return (
    <div className={classes.filter}>
      <div className={classes.row}>
        <search className={classes.chips} aria-label="Filter documents">
          {!isText && conditions.length > 0 && (
            <ul className={classes.list} aria-label="Filters">
              {conditions.map((condition, at) => (
                <Chip
                  // biome-ignore lint/suspicious/noArrayIndexKey: equal conditions may be repeated
                  key={`${at} ${condition.name}`}
                  condition={condition}
                  error={messageFor(error, condition)}
                  onEdit={() => setEditing(condition)}
                  onRemove={() => remove([condition])}
                />
              ))}
              {phone && <li>{clear}</li>}
            </ul>
          )}
          {!isText && (
            <Button
              ref={add}
              variant="subtle"
              leftSection={<IconPlus />}
              aria-expanded={editing !== undefined}
              onPointerEnter={preloadForm}
              onFocus={preloadForm}
              onClick={() => (editing === undefined ? setEditing('new') : close())}
            >
              Add filter
            </Button>
          )}
          {!phone && clear}
        </search>
        <div className={classes.actions}>{actions(() => setEditing('text'))}</div>
      </div>
      {isText && (
        <FilterTextForm
          text={filter}
          onChange={(text) => {
            query({ filter: text })
            setEditing(undefined)
          }}
          onCancel={() => {
            if ('error' in parsed) apply([])
            close()
          }}
        />
      )}
      {!isText && editing !== undefined && (
        <LazyBoundary>
          <ConditionForm
            key={typeof editing === 'object' ? formatFilter([editing]) : ''}
            collectionRef={collectionRef}
            condition={conditions[edited]}
            onSave={(condition) => {
              const at = edited < 0 ? conditions.length : edited
              apply(conditions.toSpliced(at, 1, condition))
              close()
            }}
            onCancel={close}
          />
        </LazyBoundary>
      )}
    </div>
  )
}

const isEqual = ({ name, value }: Condition, editing: Editing): boolean =>
  typeof editing === 'object' && editing.name === name && editing.value === value

function Chip(props: {
  condition: Condition
  error: string | undefined
  onEdit: () => void
  onRemove: () => void
}) {
  const { condition, error, onEdit, onRemove } = props
  const id = useId()
  const words = describeCondition(condition)
  return (
    <li>
      <span className={classes.chip} data-failed={error !== undefined || undefined}>
        <button
          type="button"
          className={classes.edit}
          aria-label={`Edit the filter ${words}`}
          aria-describedby={error === undefined ? undefined : id}
          onClick={onEdit}
        >
          {describeCondition(condition, isolate)}
        </button>
        <CloseButton
          size={24}
          iconSize={14}
          aria-label={`Remove the filter ${words}`}
          onClick={onRemove}
        />
      </span>
      {error !== undefined && (
        <p id={id} role="alert" className={classes.error}>
          {error}
        </p>
      )}
    </li>
  )
}

/** Returns the server's message about a condition. */
const messageFor = (error: Error | null, { name }: Condition): string | undefined =>
  error instanceof ApiFailure && error.status === 400 && error.field === name
    ? error.message
    : undefined

interface FilterTextFormProps {
  /** The active filter; empty if there is none. */
  readonly text: string
  readonly onChange: (text: string) => void
  readonly onCancel: () => void
}

/** The whole filter as text, as in the URL of the API. */
function FilterTextForm({ text: active, onChange, onCancel }: FilterTextFormProps) {
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
      className={form.form}
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <TextInput
        ref={field}
        label="Filter"
        placeholder="author=ada & year:gte=2000"
        classNames={{ root: classes.field, input: 'mono' }}
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
