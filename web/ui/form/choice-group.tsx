import { Fragment, type ReactNode, useId } from 'react'
import classes from './choice-group.module.css'
import hints from './field-hint.module.css'

interface Choice<T extends string> {
  readonly value: T
  readonly label: string
  /** Shown below the choice while it is selected. */
  readonly detail?: ReactNode
}

export interface ChoiceGroupProps<T extends string> {
  readonly label: string
  readonly choices: readonly Choice<T>[]
  readonly value: T
  /** Renders the choices side by side as one control. */
  readonly inline?: boolean
  /** Explains the selected choice. */
  readonly note?: string | undefined
  readonly error?: ReactNode
  /** Whether it receives the focus when its dialog opens. */
  readonly first?: boolean
  readonly onChange: (value: T) => void
}

/** A group of native radio buttons, so that the arrow keys change the selection. */
export function ChoiceGroup<T extends string>(props: ChoiceGroupProps<T>) {
  const { label, choices, value, inline = false, note, error, first, onChange } = props
  const id = useId()
  return (
    <fieldset className={classes.group} aria-describedby={`${id}-error ${id}-note`}>
      <legend className={classes.label}>{label}</legend>
      <div className={inline ? classes.inline : classes.stack}>
        {choices.map((choice) => (
          <Fragment key={choice.value}>
            <label className={classes.choice}>
              <input
                type="radio"
                name={id}
                value={choice.value}
                className={inline ? 'visually-hidden' : undefined}
                checked={choice.value === value}
                data-form-error={(Boolean(error) && choice.value === value) || undefined}
                data-autofocus={(first && choice.value === value) || undefined}
                onChange={() => onChange(choice.value)}
              />
              {choice.label}
            </label>
            {choice.value === value && choice.detail}
          </Fragment>
        ))}
      </div>
      <p id={`${id}-note`} className={hints.note}>
        {note}
      </p>
      <p id={`${id}-error`} role="alert" className={hints.error}>
        {error}
      </p>
    </fieldset>
  )
}
