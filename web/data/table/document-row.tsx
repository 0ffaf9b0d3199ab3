import { Link } from '@tanstack/react-router'
import { memo } from 'react'
import type { DocumentFields } from '../../../server/contract/document.ts'
import { useDialogNavigation } from '../../shared/use-dialog-navigation.ts'
import { type DataSearch, withoutDialog } from '../data-search.ts'
import { JsonText } from '../editor/json-text.tsx'
import { valueAt } from '../model/field-path.ts'
import { formatCell, toLine } from '../model/format-cell.ts'
import { SelectionCheckbox } from '../selection/selection-checkbox.tsx'
import classes from './document-table.module.css'

export interface DocumentRowProps {
  readonly document: DocumentFields
  readonly fields: readonly string[]
  readonly fitted: ReadonlyMap<string, number>
  readonly tabIndex: number
  /** Whether the panel shows the document. */
  readonly isOpen: boolean
  /** Undefined if documents cannot be selected. */
  readonly isSelected: boolean | undefined
  readonly onToggle: (id: string, extend: boolean) => void
}

/** A row of the table, rendered again only if its props change. */
export const DocumentRow = memo(function DocumentRow(props: DocumentRowProps) {
  const { document, fields, fitted, tabIndex, isOpen, isSelected, onToggle } = props
  const { id } = document
  return (
    <tr
      data-row={id}
      data-open={isOpen || undefined}
      data-selected={isSelected || undefined}
      tabIndex={tabIndex}
    >
      {isSelected !== undefined && (
        <td>
          <RowCheckbox id={id} checked={isSelected} tabIndex={tabIndex} onToggle={onToggle} />
        </td>
      )}
      <th scope="row">
        <DocumentLink id={id} tabIndex={tabIndex} />
      </th>
      {fields.map((field) => (
        <td key={field} className={isFigures(fitted, field) ? classes.figures : undefined}>
          <CellValue value={valueAt(document, field)} />
        </td>
      ))}
      <td aria-hidden="true" />
    </tr>
  )
})

/** The value of a field in a cell. */
export function CellValue({ value }: { value: unknown }) {
  const { text, kind, tip } = formatCell(value)
  return (
    // Without `dir`, a long right-to-left text would be cut at its beginning.
    <span
      className={classes.value}
      data-kind={kind}
      data-tip={tip}
      dir={kind === 'text' ? 'auto' : undefined}
    >
      {kind === 'json' ? <JsonText text={text} /> : text}
    </span>
  )
}

/** Returns whether the values of a field are numbers, which are right-aligned. */
export const isFigures = (fitted: ReadonlyMap<string, number>, field: string) =>
  field !== 'id' && fitted.has(field)

export function RowCheckbox(props: {
  id: string
  checked: boolean
  tabIndex?: number
  onToggle: (id: string, extend: boolean) => void
}) {
  const { id, checked, tabIndex, onToggle } = props
  return (
    <SelectionCheckbox
      label={`Select ${id}`}
      checked={checked}
      tabIndex={tabIndex}
      onToggle={(extend) => onToggle(id, extend)}
    />
  )
}

/** The id of a document, which opens it. */
export function DocumentLink({ id, tabIndex }: { id: string; tabIndex?: number }) {
  const { link } = useDialogNavigation()
  return (
    <Link
      tabIndex={tabIndex}
      to="."
      search={(now: DataSearch) => ({ ...withoutDialog(now), open: id })}
      {...link}
      className={`mono ${classes.id}`}
      dir="auto"
    >
      {toLine(id)}
    </Link>
  )
}
