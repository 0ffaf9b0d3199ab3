import type { BadgeState } from '../../ui/feedback/state-badge.tsx'
import { formatCount } from '../../ui/text/format-number.ts'
import { parseFilter } from '../model/endpoint-filter.ts'
import { countRows, type EndpointRow } from '../model/endpoint-rows.ts'
import classes from './endpoint-counts.module.css'

export interface EndpointCountsProps {
  readonly rows: readonly EndpointRow[]
  readonly filter: string
  /** `undefined` shows all states. */
  readonly onChoose: (state: BadgeState | undefined) => void
}

const states = [
  'listening',
  'failed',
  'opening',
  'draining',
  'elsewhere',
  'closed',
  'unknown',
] as const

/**
 * Shows the counts, "128 endpoints · 125 listening · 2 failed", as buttons that filter by state.
 * States without endpoints are omitted.
 */
export function EndpointCounts({ rows, filter, onChoose }: EndpointCountsProps) {
  const counts = countRows(rows)
  const { states: chosen } = parseFilter(filter)
  const isOnly = (state: BadgeState) => chosen.length === 1 && chosen[0] === state
  const total = `${formatCount(counts.endpoints)} ${counts.endpoints === 1 ? 'endpoint' : 'endpoints'}`
  return (
    <fieldset className={classes.counts}>
      <legend className="visually-hidden">Show endpoints by state</legend>
      <button type="button" aria-pressed={chosen.length === 0} onClick={() => onChoose(undefined)}>
        {total}
      </button>
      {states
        .filter((state) => counts[state] > 0 || chosen.includes(state))
        .map((state) => (
          <button
            key={state}
            type="button"
            data-state={state}
            aria-pressed={chosen.includes(state)}
            onClick={() => onChoose(isOnly(state) ? undefined : state)}
          >
            {formatCount(counts[state])} {state === 'closed' ? 'off' : state}
          </button>
        ))}
    </fieldset>
  )
}
