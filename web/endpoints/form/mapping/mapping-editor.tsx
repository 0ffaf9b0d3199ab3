import { useQuery } from '@tanstack/react-query'
import { databasesQuery } from '../queries.ts'
import { ChoiceGroup } from '../ui/choice-group.tsx'
import type { FormPart } from './address-fields.tsx'
import classes from './mapping-editor.module.css'
import { MappingList } from './mapping-list.tsx'
import { NameField } from './name-field.tsx'

const choices = [
  { value: 'all', label: 'All databases (with _system)' },
  { value: 'only', label: 'Only these' },
] as const

/** Chooses the databases of an endpoint: every one, or some in an order; the first is the default. */
export function MappingEditor(props: FormPart & { readonly first?: boolean }) {
  const { draft, faults, onChange, first = false } = props
  const { data: existing } = useQuery(databasesQuery)
  const { reach, names, typing } = draft
  return (
    <div>
      <ChoiceGroup
        label="Databases"
        choices={choices}
        value={reach}
        first={first}
        // With the choice of "Only these" the fault stands at the field that mends it.
        fault={reach === 'all' ? faults.databases : undefined}
        onChange={(next) => onChange({ reach: next })}
      />
      {reach === 'only' && (
        <div className={classes.only}>
          <MappingList
            names={names}
            existing={existing}
            onChange={(next) => onChange({ names: next })}
          />
          <NameField
            names={names}
            existing={existing ?? []}
            fault={faults.databases}
            typing={typing}
            onType={(next) => onChange({ typing: next })}
            onAdd={(name) => onChange({ names: [...names, name], typing: '' })}
          />
        </div>
      )}
    </div>
  )
}
