import { Button } from '@mantine/core'
import { useState } from 'react'
import { type Column, RecordTable } from '../../ui/record-table.tsx'
import { Section } from '../../ui/section.tsx'
import { AddressText } from '../address-text.tsx'
import { DatabaseChips } from '../database-chips.tsx'
import classes from './import-changes.module.css'
import type { ImportChange } from './import-plan.ts'

/** So many of a list are drawn at first, and more each time that is asked for. */
const STEP = 100

/** The changes of an import in lists of one kind; those that were refused come first. */
export function ImportChanges(props: {
  changes: readonly ImportChange[]
  /** Why they were refused, by address. */
  failures: ReadonlyMap<string, string>
  databases: readonly string[] | undefined
}) {
  const { changes, failures, databases } = props
  const address: Column<ImportChange> = {
    head: 'Address',
    width: 300,
    cell: (change) => <AddressText address={change.address} />,
  }
  const chips = (head: string, of: (change: ImportChange) => readonly string[] | null) => ({
    head,
    cell: (change: ImportChange) => (
      <DatabaseChips mapping={of(change)} existing={databases} room={4} />
    ),
  })
  const before = chips('Now', ({ before: mapping }) => mapping)
  const after = chips('Afterwards', ({ after: mapping }) => mapping)
  const reason: Column<ImportChange> = {
    head: 'Why not',
    cell: (change) => failures.get(change.address),
  }
  const wanted: Column<ImportChange> = {
    head: 'Change',
    width: 120,
    cell: ({ kind }) => words[kind],
  }
  const rest = changes.filter((change) => !failures.has(change.address))
  const of = (kind: ImportChange['kind']) => rest.filter((change) => change.kind === kind)
  const refused = changes.filter((change) => failures.has(change.address))
  return (
    <div className={classes.lists}>
      <ChangeList title="Refused" changes={refused} columns={[address, wanted, reason]} />
      <ChangeList title="Removed" changes={of('removed')} columns={[address, before]} />
      <ChangeList title="Changed" changes={of('changed')} columns={[address, before, after]} />
      <ChangeList title="Added" changes={of('added')} columns={[address, after]} />
    </div>
  )
}

const words = { added: 'Add', changed: 'Change', removed: 'Remove' } as const

function ChangeList(props: {
  title: string
  changes: readonly ImportChange[]
  columns: readonly Column<ImportChange>[]
}) {
  const { title, changes, columns } = props
  const [shown, setShown] = useState(STEP)
  if (changes.length === 0) return null
  const hidden = changes.length - shown
  return (
    <Section title={title} count={changes.length}>
      <RecordTable
        caption={title}
        records={changes.slice(0, shown)}
        columns={columns}
        idOf={(change) => change.address}
      />
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
