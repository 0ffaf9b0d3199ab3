import { Button } from '@mantine/core'
import classes from './condition-form.module.css'

/** The buttons of a form that changes the filter. */
export function FilterActions({ label, onCancel }: { label: string; onCancel: () => void }) {
  return (
    <div className={classes.actions}>
      <Button type="submit" variant="filled">
        {label}
      </Button>
      <Button variant="default" onClick={onCancel}>
        Cancel
      </Button>
    </div>
  )
}
