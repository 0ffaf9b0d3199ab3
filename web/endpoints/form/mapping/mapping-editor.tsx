import { useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import { databasesQuery } from '../../../api/queries.ts'
import { ChoiceGroup } from '../../../ui/form/choice-group.tsx'
import type { FormPart } from '../address-fields.tsx'
import { isReachedByOthers } from '../endpoint-draft.ts'
import { MissingDefault } from '../missing-default.tsx'
import classes from './mapping-editor.module.css'
import { MappingList } from './mapping-list.tsx'
import { NameField } from './name-field.tsx'

const ACCESS = 'Anyone who can connect sees the sign-in page; admins can manage Gatehouse here.'

/**
 * Edits the mapping of an endpoint: all databases, or an ordered list whose first is the default.
 */
export function MappingEditor(props: FormPart & { readonly first?: boolean }) {
  const { draft, errors, onChange, first = false } = props
  const { data: existing } = useQuery(databasesQuery)
  const { reach, names, typing } = draft
  const list = useRef<HTMLDivElement>(null)
  const chosen = (
    <div ref={list} className={classes.only}>
      <MappingList
        names={names}
        existing={existing}
        onChange={(next) => onChange({ names: next })}
      />
      <NameField
        names={names}
        existing={existing ?? []}
        error={errors.databases}
        typing={typing}
        onType={(next) => onChange({ typing: next })}
        onAdd={(name) => onChange({ names: [...names, name], typing: '' })}
      />
      <MissingDefault
        mapping={names}
        existing={existing}
        onCreated={() => list.current?.querySelector<HTMLElement>('input')?.focus()}
      />
    </div>
  )
  const access = (
    <p className={classes.access} data-exposed={isReachedByOthers(draft) || undefined}>
      {ACCESS}
    </p>
  )
  return (
    <ChoiceGroup
      label="Databases"
      choices={[
        { value: 'only', label: 'Only these', detail: chosen },
        { value: 'all', label: 'Every database, and this console', detail: access },
      ]}
      value={reach}
      first={first}
      // With "Only these", the error is shown at the name field.
      error={reach === 'all' ? errors.databases : undefined}
      onChange={(next) => onChange({ reach: next })}
    />
  )
}
