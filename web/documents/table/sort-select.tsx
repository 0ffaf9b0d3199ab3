import { NativeSelect } from '@mantine/core'
import { describeSort, parseSort } from '../model/sort.ts'

export interface SortSelectProps {
  readonly fields: readonly string[]
  /** The active order; empty for the order of ids. */
  readonly sort: string
  readonly onChange: (sort: string) => void
}

/** Selects the order on narrow screens, where the list has no column headers. */
export function SortSelect({ fields, sort, onChange }: SortSelectProps) {
  const orders = ['', '-id', ...fields.flatMap((field) => [field, `-${field}`])]
  return (
    <NativeSelect
      aria-label="Sort by"
      // A line of its own, so that the field and the direction fit.
      maw={400}
      mt={4}
      mb={8}
      data={[...new Set([...orders, sort])].map((value) => ({
        value,
        label: `Sort by ${describeSort(parseSort(value === '' ? 'id' : value))}`,
      }))}
      value={sort}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}
