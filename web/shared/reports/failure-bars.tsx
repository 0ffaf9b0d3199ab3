import { Button } from '@mantine/core'
import { IconX } from '../../ui/icon/icons.tsx'
import { IconButton } from '../../ui/layout/icon-button.tsx'
import { keepFocus } from '../../ui/layout/keep-focus.ts'
import classes from '../../ui/overlay/floating-bars.module.css'
import { useDialogNavigation } from '../use-dialog-navigation.ts'
import { closeReport, useFailureReports } from './failure-store.ts'

/** Reports changes that failed after their form was closed, each with a button that reopens it. */
export function FailureBars() {
  const reports = useFailureReports()
  const dialogs = useDialogNavigation()
  return reports.map(({ what, text, reason, formUrl }) => (
    <section key={what} aria-label="Failed change" className={classes.bar}>
      <div className={classes.text} role="alert">
        <p>
          {text} <span className={classes.reason}>{reason}</span>
        </p>
      </div>
      <div className={classes.actions}>
        <Button
          ref={keepFocus}
          variant="subtle"
          onClick={() => {
            closeReport(what)
            dialogs.open({ href: formUrl })
          }}
        >
          Try again
        </Button>
        <IconButton ref={keepFocus} aria-label="Close" onClick={() => closeReport(what)}>
          <IconX />
        </IconButton>
      </div>
    </section>
  ))
}
