import { Button } from '@mantine/core'
import { useState } from 'react'
import { Section } from '../layout/section.tsx'
import { RecordTable, type RecordTableProps } from './record-table.tsx'

/** Records rendered at first, and added by each click on the button below them. */
const STEP = 100

/** Section with a table of records, rendered in steps on request. */
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
