import { Button } from '@mantine/core'
import { useState } from 'react'
import { RecordTable, type RecordTableProps } from './record-table.tsx'
import { Section } from './section.tsx'

/** So many records are drawn at first, and more each time that is asked for. */
const STEP = 100

/** A part of a page that lists records under its title: some of many, and the rest on request. */
export function RecordSection<T>(
  props: Omit<RecordTableProps<T>, 'caption'> & { readonly title: string },
) {
  const { title, records, ...table } = props
  const [shown, setShown] = useState(STEP)
  const hidden = records.length - shown
  return (
    <Section title={title} count={records.length}>
      <RecordTable {...table} caption={title} records={records.slice(0, shown)} />
      {hidden > 0 && (
        <p>
          <Button variant="subtle" onClick={() => setShown(shown + STEP)}>
            Show {Math.min(STEP, hidden)} of {hidden} more
          </Button>
        </p>
      )}
    </Section>
  )
}
