import { Button, NativeSelect, TextInput } from '@mantine/core'
import { AUDIT_ACTIONS } from '../../server/contract/audit-action.ts'
import filterBar from '../ui/form/filter-bar.module.css'
import { useFilterText } from '../ui/form/use-filter-text.ts'
import { useClock } from '../ui/text/use-clock.ts'
import { actionLabels, nounLabels } from './action-labels.ts'
import classes from './activity-filter.module.css'
import { type ActivitySearch, dayOf, isDay, isFiltered, nouns } from './activity-search.ts'

export interface ActivityFilterProps {
  readonly search: ActivitySearch
  readonly onChange: (changes: Partial<Record<keyof ActivitySearch, string>>) => void
  readonly onClear: () => void
  /** How often the filter was cleared, also while a text in a field was not yet part of it. */
  readonly clears: number
}

/** Debounce delay for typing, in milliseconds. */
const DEBOUNCE_MS = 250

const kinds = [
  { value: '', label: 'Everything' },
  ...nouns.map((noun) => {
    const actions = AUDIT_ACTIONS.filter((action) => action.startsWith(`${noun}.`))
    const all = { value: noun, label: `${nounLabels[noun]}: all` }
    const each = actions.map((action) => ({ value: action, label: actionLabels[action] }))
    return { group: nounLabels[noun], items: actions.length > 1 ? [all, ...each] : each }
  }),
]

const outcomes = [
  { value: '', label: 'Any' },
  { value: 'done', label: 'Done' },
  { value: 'refused', label: 'Rejected' },
]

/** Returns a day earlier. At noon, so that no change of the clock matters. */
function dayBefore(day: string, days: number): string {
  const noon = new Date(`${day}T12:00:00`)
  return dayOf(noon.setDate(noon.getDate() - days))
}

/** Filters activity by person, action, outcome, and date range. */
export function ActivityFilter({ search, onChange, onClear, clears }: ActivityFilterProps) {
  const { from = '', to = '', what = '' } = search
  const now = useClock((time) => dayOf(time))
  const backwards = from !== '' && to !== '' && to < from
  return (
    <search className={`${filterBar.bar} ${classes.filter}`}>
      <WhoField key={`who ${clears}`} />
      <NativeSelect
        label="What"
        className={classes.action}
        data={kinds}
        value={what}
        onChange={(event) => onChange({ what: event.currentTarget.value })}
      />
      <NativeSelect
        label="Outcome"
        className={classes.outcome}
        data={outcomes}
        value={search.outcome ?? ''}
        onChange={(event) => onChange({ outcome: event.currentTarget.value })}
      />
      <div className={`${classes.beside} ${classes.days}`}>
        {(['Today', 'Yesterday'] as const).map((label, ago) => {
          const day = dayBefore(now, ago)
          const isShown = from === day && to === day
          return (
            <Button
              key={label}
              variant="default"
              aria-pressed={isShown}
              onClick={() => onChange(isShown ? { from: '', to: '' } : { from: day, to: day })}
            >
              {label}
            </Button>
          )
        })}
      </div>
      <DayField key={`from ${clears}`} label="From" name="from" />
      <DayField
        key={`to ${clears}`}
        label="To"
        name="to"
        error={backwards ? 'Must not be before From' : undefined}
      />
      {isFiltered(search) && (
        <Button variant="subtle" className={classes.beside} onClick={onClear}>
          Clear filters
        </Button>
      )}
    </search>
  )
}

function DayField(props: { label: string; name: 'from' | 'to'; error?: string | undefined }) {
  const { label, name, error } = props
  const [day, change] = useFilterText('/activity', { name, rest: DEBOUNCE_MS, accepts: isDay })
  return (
    <TextInput
      label={label}
      error={error}
      type="date"
      className={classes.day}
      value={day}
      onChange={(event) => change(event.currentTarget.value)}
      onBlur={() => isDay(day) || change('')}
    />
  )
}

function WhoField() {
  const [text, change] = useFilterText('/activity', { name: 'who', rest: DEBOUNCE_MS })
  return (
    <TextInput
      label="Who"
      spellCheck={false}
      autoComplete="off"
      placeholder="A person or token"
      className={classes.actor}
      value={text}
      onChange={(event) => change(event.currentTarget.value)}
    />
  )
}
