import { useConnection } from '../api/live/live-provider.tsx'
import { usePresence } from '../api/session/person.ts'
import classes from './connection-status.module.css'

const words = {
  live: 'Live',
  connecting: 'Connecting…',
  paused: 'Connecting…',
  lost: 'No connection',
} as const

/** Shows the state of live updates as a dot and a word in the top bar. */
export function ConnectionStatus() {
  const { state } = useConnection()
  const { end } = usePresence()
  return (
    <span className={classes.status} data-state={end === undefined ? state : 'lost'}>
      <svg viewBox="0 0 8 8" width="8" height="8" aria-hidden="true">
        <circle cx="4" cy="4" r="3" strokeWidth="1.5" stroke="currentColor" />
      </svg>
      <span className={classes.word}>{end === undefined ? words[state] : 'Signed out'}</span>
    </span>
  )
}
