import { memo, type ReactNode } from 'react'
import classes from './state-badge.module.css'

export type BadgeState =
  | 'listening'
  | 'opening'
  | 'failed'
  | 'draining'
  | 'elsewhere'
  | 'closed'
  | 'unknown'

export const stateLabels: Readonly<Record<BadgeState, string>> = {
  listening: 'Listening',
  opening: 'Opening…',
  failed: 'Failed',
  draining: 'Draining',
  elsewhere: 'Elsewhere',
  closed: 'Off',
  unknown: 'Unknown',
}

// Each state has its own shape, so that color is not the only cue. SVG, because the fonts lack
// these characters.
const ring = <circle cx="6" cy="6" r="4.25" fill="none" stroke="currentColor" strokeWidth="1.5" />
const shapes: Readonly<Record<BadgeState, ReactNode>> = {
  listening: <circle cx="6" cy="6" r="4" fill="currentColor" />,
  opening: (
    <circle
      cx="6"
      cy="6"
      r="4.25"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeDasharray="2.2 2.25"
    />
  ),
  failed: <path d="M6 1.2 11.4 10.8H.6Z" fill="currentColor" />,
  draining: (
    <>
      {ring}
      <path d="M6 1.75a4.25 4.25 0 0 0 0 8.5Z" fill="currentColor" />
    </>
  ),
  elsewhere: ring,
  closed: <path d="M2 6h8" stroke="currentColor" strokeWidth="1.5" />,
  unknown: ring,
}

/** Renders a state as a shape, a word, and an optional detail, such as "Draining 12 left, 24 s". */
export const StateBadge = memo(function StateBadge(props: {
  state: BadgeState
  /** Replaces the word of the state. */
  label?: string
  detail?: ReactNode
}) {
  const { state, label = stateLabels[state], detail } = props
  return (
    <span className={classes.badge} data-state={state}>
      <span className={classes.word}>
        <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
          {shapes[state]}
        </svg>
        {label}
      </span>
      {detail !== undefined && <span className={classes.detail}> {detail}</span>}
    </span>
  )
})
