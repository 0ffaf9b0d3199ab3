import { NativeSelect } from '@mantine/core'

export interface SortSelectProps {
  readonly fields: readonly string[]
  /** The active order; empty for the order of ids. */
  readonly sort: string
  readonly onChange: (sort: string) => void
}

/** Selects the order on narrow screens, where the list has no column headers. */
export function SortSelect({ fields, sort, onChange }: SortSelectProps) {
  const known = [
    { value: '', label: 'Sort by id' },
    ...fields.flatMap((field) => [
      { value: field, label: `Sort by ${field}, ascending` },
      { value: `-${field}`, label: `Sort by ${field}, descending` },
    ]),
  ]
  const isKnown = known.some(({ value }) => value === sort)
  return (
    <NativeSelect
      aria-label="Sort by"
      flex={1}
      miw={80}
      data={isKnown ? known : [...known, { value: sort, label: `Sort by ${sort}` }]}
      value={sort}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}
