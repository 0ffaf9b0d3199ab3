import { Button, NativeSelect, TextInput } from '@mantine/core'
import { AUDIT_ACTIONS } from '../../server/contract/audit-action.ts'
import { useFilterText } from '../ui/use-filter-text.ts'
import { actionWords, nounWords } from './action-words.ts'
import classes from './activity-filter.module.css'
import { type ActivitySearch, isFiltered, nouns } from './activity-search.ts'

/** What {@link ActivityFilter} shows, and whom it tells. */
export interface ActivityFilterProps {
  readonly search: ActivitySearch
  readonly onChange: (part: Partial<Record<keyof ActivitySearch, string>>) => void
  readonly onClear: () => void
}

/** How long typing rests before it is asked for, in milliseconds. */
const REST_MS = 250

const kinds = [
  { value: '', label: 'Everything' },
  ...nouns.map((noun) => {
    const actions = AUDIT_ACTIONS.filter((action) => action.startsWith(`${noun}.`))
    const all = { value: noun, label: `${nounWords[noun] ?? noun}: all` }
    const each = actions.map((action) => ({ value: action, label: actionWords[action] }))
    return { group: nounWords[noun] ?? noun, items: actions.length > 1 ? [all, ...each] : each }
  }),
]

/** Who, what, and between which days. */
export function ActivityFilter({ search, onChange, onClear }: ActivityFilterProps) {
  const { from = '', to = '', what = '' } = search
  const backwards = from !== '' && to !== '' && to < from
  return (
    <search className={classes.filter}>
      <WhoField />
      <NativeSelect
        label="What"
        className={classes.what}
        data={kinds}
        value={what}
        onChange={(event) => onChange({ what: event.currentTarget.value })}
      />
      <TextInput
        type="date"
        label="From"
        className={classes.day}
        value={from}
        onChange={(event) => onChange({ from: event.currentTarget.value })}
      />
      <TextInput
        type="date"
        label="To"
        className={classes.day}
        value={to}
        error={backwards ? 'Before the first day' : undefined}
        onChange={(event) => onChange({ to: event.currentTarget.value })}
      />
      {isFiltered(search) && (
        <Button variant="subtle" className={classes.clear} onClick={onClear}>
          Clear filters
        </Button>
      )}
    </search>
  )
}

function WhoField() {
  const [text, change] = useFilterText('/activity', { name: 'who', rest: REST_MS })
  return (
    <TextInput
      label="Who"
      placeholder="github:583231"
      className={classes.who}
      classNames={{ input: 'mono' }}
      spellCheck={false}
      autoComplete="off"
      value={text}
      onChange={(event) => change(event.currentTarget.value)}
    />
  )
}
