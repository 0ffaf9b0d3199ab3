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
    { value: '', label: 'Id' },
    ...fields.flatMap((field) => [
      { value: field, label: `${field}, ascending` },
      { value: `-${field}`, label: `${field}, descending` },
    ]),
  ]
  const isKnown = known.some(({ value }) => value === sort)
  return (
    <NativeSelect
      label="Sort by"
      miw={144}
      data={isKnown ? known : [...known, { value: sort, label: sort }]}
      value={sort}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}
