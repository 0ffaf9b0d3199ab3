import type { ChangeGuard } from './check-changes.ts'
import classes from './guard-notice.module.css'

/**
 * Shows the effects of changes to endpoints: the reason if they are rejected, otherwise a list of
 * the consequences and a link to an endpoint where the console stays available. Uses the warning
 * color if the changes disconnect this page.
 *
 * In a form, `FormFrame` focuses the reason when the form is submitted (`data-form-error`).
 */
export function GuardNotice({ guard }: { guard: ChangeGuard }) {
  const { refused, consequences, disconnects, otherConsole } = guard
  if (refused !== undefined) {
    return (
      <div className={classes.notice} data-warning="" role="alert" tabIndex={-1} data-form-error="">
        <p>{refused}</p>
      </div>
    )
  }
  if (consequences.length === 0) return null
  return (
    <div className={classes.notice} data-warning={disconnects ? '' : undefined} role="status">
      <ul aria-label="Consequences">
        {consequences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      {otherConsole !== undefined && (
        <p>
          <a href={otherConsole.url}>Open the console at {otherConsole.address}</a>
        </p>
      )}
    </div>
  )
}
