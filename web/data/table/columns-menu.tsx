import { Menu } from '@mantine/core'
import { useState } from 'react'
import { FilterField } from '../../ui/form/filter-field.tsx'
import { filterByName } from '../../ui/form/name-filter.tsx'
import { IconAdjustments } from '../../ui/icon/icons.tsx'
import { MenuButton } from '../../ui/overlay/menu-button.tsx'
import { type FieldColumn, MAX_COLUMNS } from '../model/columns.ts'
import { fieldLabel } from '../model/field-path.ts'
import { useCompactToolbar } from '../use-compact-toolbar.ts'
import classes from './columns-menu.module.css'

export interface ColumnsMenuProps {
  /** Fields that can be shown. */
  readonly fields: readonly string[]
  readonly columns: readonly FieldColumn[]
  readonly onChange: (columns: readonly FieldColumn[]) => void
  /** Undefined if the columns are the default ones. */
  readonly onReset: (() => void) | undefined
}

/** Number of fields from which they can be filtered. */
const FILTERED_FROM = 12

/** Chooses the fields that have a column, and resets the choice and the widths. */
export function ColumnsMenu({ fields, columns, onChange, onReset }: ColumnsMenuProps) {
  const compact = useCompactToolbar()
  const shown = columns.map(({ field }) => field).filter((field) => field !== 'id')
  const toggle = (field: string) =>
    onChange(
      shown.includes(field)
        ? columns.filter((column) => column.field !== field)
        : [...columns, { field }],
    )
  const [text, setText] = useState('')
  const all = [...new Set([...shown, ...fields])].map((field) => ({
    field,
    name: fieldLabel(field),
  }))
  const matching = filterByName(all, text)
  return (
    <MenuButton label="Columns" icon={compact && <IconAdjustments />} width={320}>
      {all.length > FILTERED_FROM && (
        <div className={classes.filter}>
          <FilterField
            label="Filter fields"
            placeholder={`Filter ${all.length} fields by name`}
            clear="Clear filter"
            text={text}
            onChange={setText}
          />
        </div>
      )}
      <div className={classes.fields}>
        {all.length === 0 && <p className={classes.none}>No fields on this page.</p>}
        {all.length > 0 && matching.length === 0 && (
          <p className={classes.none}>No field matches “{text}”.</p>
        )}
        {matching.map(({ field, name }) => (
          <Menu.CheckboxItem
            key={field}
            checked={shown.includes(field)}
            disabled={!shown.includes(field) && shown.length >= MAX_COLUMNS}
            className="mono"
            onChange={() => toggle(field)}
          >
            {name}
          </Menu.CheckboxItem>
        ))}
      </div>
      {onReset !== undefined && (
        <>
          <Menu.Divider />
          <Menu.Item onClick={onReset}>Reset columns</Menu.Item>
        </>
      )}
    </MenuButton>
  )
}
