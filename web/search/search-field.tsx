import { CloseButton } from '@mantine/core'
import { IconSearch } from '../ui/icon/icons.tsx'
import classes from './search-dialog.module.css'

/** The id of the list that the field controls. */
export const RESULTS_ID = 'search-results'

/** Returns the element id of a result. */
export const optionId = (item: string): string => `search:${item}`

/** Number of results that PageUp and PageDown move. */
const PAGE = 8

const steps: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: PAGE,
  PageUp: -PAGE,
}

export interface SearchFieldProps {
  readonly query: string
  /** The id of the result that Enter chooses. */
  readonly active: string | undefined
  readonly count: number
  readonly onChange: (query: string) => void
  readonly onFocus: () => void
  readonly onStep: (step: number) => void
  readonly onChoose: () => void
  readonly onClose: () => void
}

/**
 * The search field: a combobox with a list that is always open (WAI-ARIA APG). The focus stays in
 * the field while the arrow keys move through the results.
 */
export function SearchField(props: SearchFieldProps) {
  const { query, active, count, onChange, onFocus, onStep, onChoose, onClose } = props
  return (
    <div className={classes.field}>
      <IconSearch />
      <input
        className={classes.input}
        type="text"
        role="combobox"
        aria-label="Search for a name, page or action"
        aria-expanded={count > 0}
        aria-controls={RESULTS_ID}
        aria-autocomplete="list"
        aria-activedescendant={active && optionId(active)}
        placeholder="Search for a name, page or action"
        autoComplete="off"
        spellCheck={false}
        data-autofocus
        value={query}
        onChange={(event) => onChange(event.currentTarget.value)}
        onFocus={onFocus}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return
          const step = steps[event.key]
          if (step !== undefined) onStep(step)
          else if (event.key === 'Enter') onChoose()
          else return
          event.preventDefault()
        }}
      />
      <CloseButton size={24} iconSize={16} aria-label="Close search" onClick={onClose} />
    </div>
  )
}
