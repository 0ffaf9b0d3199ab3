import { NativeSelect } from '@mantine/core'
import { useEffect, useMemo, useRef } from 'react'
import * as z from 'zod/mini'
import { splitValues } from '../../../server/contract/query/field-path.ts'
import { useDraftForm } from '../../shared/forms/use-draft-form.ts'
import { SuggestField } from '../../ui/form/suggest-field.tsx'
import { useEscape } from '../../ui/overlay/use-escape.ts'
import {
  type Condition,
  OPERATOR_WORDS,
  type Operator,
  parseValues,
  partsOf,
  printValue,
  printValues,
  toCondition,
} from '../model/conditions.ts'
import { fieldLabel, parseField, splitUnescaped } from '../model/field-path.ts'
import type { CollectionRef } from '../use-data-location.ts'
import classes from './condition-form.module.css'
import { FilterActions } from './filter-actions.tsx'
import { useFilterSuggestions } from './use-filter-suggestions.ts'

export interface ConditionFormProps {
  readonly collectionRef: CollectionRef
  /** The condition to edit; undefined for a new one. */
  readonly condition: Condition | undefined
  readonly onSave: (condition: Condition) => void
  readonly onCancel: () => void
}

/** The choices of the picker. `missing` is `exists` with the value `false`. */
const choices = [
  ...Object.entries(OPERATOR_WORDS).map(([value, label]) => ({ value, label })),
  { value: 'missing', label: 'does not exist' },
]

/** The choices that compare a number with the value. */
const COMPARED = ['eq', 'lt', 'lte', 'gt', 'gte']

/** Returns whether a typed value is a number, or is still empty. */
const isNumber = (value: string) => value === '' || Number.isFinite(Number(value))

const schema = z.object({
  field: z.string().check(z.refine((field) => field.trim() !== '', 'Choose or enter a field.')),
})

/** Builds one filter from a field, an operator and a value. */
export function ConditionForm(props: ConditionFormProps) {
  const { collectionRef, condition, onSave, onCancel } = props
  const initialValues = toValues(condition)
  const form = useDraftForm({ initialValues, schema })
  const { choice, value } = form.values
  const suggestions = useFilterSuggestions(collectionRef)
  const { isReady } = suggestions
  // biome-ignore lint/correctness/useExhaustiveDependencies: once there are suggestions, they stay fixed while the form is open
  const fields = useMemo(suggestions.fields, [isReady])
  const field = parseField(form.values.field, [initialValues.field, ...fields])
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const values = useMemo(() => suggestions.values(field), [field, isReady])
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const hasNumbers = useMemo(() => suggestions.isNumeric(field), [field, isReady])
  const warning =
    hasNumbers && COMPARED.includes(choice) && !isNumber(value)
      ? `In the loaded documents, ${fieldLabel(field)} is a number.`
      : undefined
  const element = useRef<HTMLFormElement>(null)
  const valueField = useRef<HTMLInputElement>(null)
  useEffect(() => element.current?.querySelector('input')?.focus(), [])
  useEscape('field', () => element.current?.contains(document.activeElement) === true && onCancel())
  const { before, options } = choice === 'in' ? toListOptions(value, values) : toOptions(values)
  const takesValue = choice !== 'exists' && choice !== 'missing'
  const submit = () =>
    form.submit(() => {
      if (choice === 'missing') onSave(toCondition(field, 'exists', 'false'))
      else if (choice === 'exists') onSave(toCondition(field, 'exists', 'true'))
      else if (choice === 'in') onSave(toCondition(field, 'in', parseValues(value)))
      else onSave(toCondition(field, choice as Operator, value))
    })
  return (
    <form
      ref={element}
      noValidate
      aria-label={condition === undefined ? 'New filter' : 'Edit filter'}
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <SuggestField
        label="Field"
        placeholder="author.name"
        className={classes.field}
        suggestions={fields}
        onEnter={(event) => {
          if (form.values.field.trim() === '' || !takesValue || value !== '') return
          event.preventDefault()
          valueField.current?.focus()
        }}
        {...form.getInputProps('field')}
      />
      <NativeSelect
        label="Condition"
        className={classes.choice}
        data={choices}
        {...form.getInputProps('choice')}
      />
      {takesValue && (
        <SuggestField
          ref={valueField}
          label="Value"
          placeholder={choice === 'in' ? 'ada, grace' : ''}
          className={classes.field}
          before={before}
          suggestions={options}
          highlight={false}
          description={warning && <span className={classes.warning}>{warning}</span>}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          {...form.getInputProps('value')}
        />
      )}
      <FilterActions
        label={condition === undefined ? 'Apply filter' : 'Update filter'}
        onCancel={onCancel}
      />
    </form>
  )
}

/** Suggested texts of a field, and the typed text that they follow. */
interface Options {
  readonly before: string
  readonly options: readonly string[]
}

const toOptions = (values: readonly string[]): Options => ({ before: '', options: values })

/** Suggests values after the last comma, without those that are typed before it. */
function toListOptions(typed: string, values: readonly string[]): Options {
  const parts = splitUnescaped(typed, ',')
  const last = parts.at(-1)?.trimStart() ?? ''
  const before = typed.slice(0, typed.length - last.length)
  const used = new Set(splitValues(parseValues(parts.slice(0, -1).join(','))))
  return {
    before,
    options: values.filter((value) => !used.has(value)).map(printValue),
  }
}

function toValues(condition: Condition | undefined) {
  if (condition === undefined) return { field: '', choice: 'eq', value: '' }
  const { field, operator, value } = partsOf(condition)
  if (operator === undefined) return { field, choice: 'eq', value }
  if (operator === 'in') return { field, choice: 'in', value: printValues(value) }
  return { field, choice: operator === 'exists' && value === 'false' ? 'missing' : operator, value }
}
