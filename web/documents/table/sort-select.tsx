import { NativeSelect } from '@mantine/core'

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
    ...fields.flatMap((field) => [
      { value: field, label: `Sort by ${field}, ascending` },
      { value: `-${field}`, label: `Sort by ${field}, descending` },
    ]),
  ]
  const isKnown = options.some(({ value }) => value === sort)
  return (
    <NativeSelect
      aria-label="Sort by"
      flex={1}
      miw={80}
      data={isKnown ? options : [...options, { value: sort, label: `Sort by ${sort}` }]}
      value={sort}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}
