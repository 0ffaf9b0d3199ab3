import type { BadgeState } from '../ui/state-badge.tsx'
import classes from './endpoint-counts.module.css'
import { chosenState } from './endpoint-filter.ts'
import { countRows, type EndpointRow } from './endpoint-rows.ts'
import { sayCount } from './traffic.ts'

/** What {@link EndpointCounts} counts, and whom it tells which state was chosen. */
export interface EndpointCountsProps {
  readonly rows: readonly EndpointRow[]
  readonly filter: string
  /** `undefined`: of every state. */
  readonly onChoose: (state: BadgeState | undefined) => void
}

const states = ['listening', 'failed', 'opening', 'draining', 'elsewhere', 'unknown'] as const

/** "128 endpoints · 125 listening · 2 failed": each chooses what is shown. What is none is quiet. */
export function EndpointCounts({ rows, filter, onChoose }: EndpointCountsProps) {
  const counts = countRows(rows)
  const chosen = chosenState(filter)
  const total = `${sayCount(counts.endpoints)} ${counts.endpoints === 1 ? 'endpoint' : 'endpoints'}`
  return (
    <fieldset className={classes.counts}>
      <legend className="visually-hidden">Show endpoints by state</legend>
      <button type="button" aria-pressed={chosen === undefined} onClick={() => onChoose(undefined)}>
        {total}
      </button>
      {states
        .filter((state) => counts[state] > 0 || state === chosen)
        .map((state) => (
          <button
            key={state}
            type="button"
            data-state={state}
            aria-pressed={chosen === state}
            onClick={() => onChoose(chosen === state ? undefined : state)}
          >
            {sayCount(counts[state])} {state}
          </button>
        ))}
    </fieldset>
  )
}
