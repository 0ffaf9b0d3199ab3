import { NativeSelect } from '@mantine/core'
import { isolate } from '../../shared/ui/text/isolate.ts'
import { fieldLabel } from '../model/field-path.ts'

export interface SortSelectProps {
  readonly fields: readonly string[]
  /** The active order; empty for the order of ids. */
  readonly sort: string
  readonly onChange: (sort: string) => void
}

/** Selects the order on narrow screens, where the list has no column headers. */
export function SortSelect({ fields, sort, onChange }: SortSelectProps) {
  const options = [
    { value: '', label: 'Sort by id' },
    ...fields.flatMap((field) => {
      const label = isolate(fieldLabel(field))
      return [
        { value: field, label: `Sort by ${label}, ascending` },
        { value: `-${field}`, label: `Sort by ${label}, descending` },
      ]
    }),
  ]
  const isKnown = options.some(({ value }) => value === sort)
  return (
    <NativeSelect
      aria-label="Sort by"
      flex={1}
      miw={80}
      data={isKnown ? options : [...options, { value: sort, label: `Sort by ${isolate(sort)}` }]}
      value={sort}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}
