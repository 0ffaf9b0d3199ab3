import { RecordSection } from '../../shared/ui/layout/record-section.tsx'
import type { Column } from '../../shared/ui/table/record-table.tsx'
import { AddressText } from '../table/cells/address-text.tsx'
import { DatabaseChips } from '../table/cells/database-chips.tsx'
import classes from './import-changes.module.css'
import type { ImportChange } from './import-plan.ts'

/** Lists the changes of an import by kind, failed changes first. */
export function ImportChanges(props: {
  changes: readonly ImportChange[]
  /** The reasons why changes failed, by address. */
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
  const after = chips('After', ({ after: mapping }) => mapping)
  const reason: Column<ImportChange> = {
    head: 'Reason',
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
      <ChangeList title="Failed" records={refused} columns={[address, wanted, reason]} />
      <ChangeList title="Removed" records={of('removed')} columns={[address, before]} />
      <ChangeList title="Changed" records={of('changed')} columns={[address, before, after]} />
      <ChangeList title="Added" records={of('added')} columns={[address, after]} />
    </div>
  )
}

const words = { added: 'Add', changed: 'Change', removed: 'Remove' } as const

const ChangeList = (list: {
  title: string
  records: readonly ImportChange[]
  columns: readonly Column<ImportChange>[]
}) => list.records.length > 0 && <RecordSection {...list} idOf={(change) => change.address} />
