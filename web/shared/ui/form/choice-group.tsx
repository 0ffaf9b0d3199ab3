import { useId } from 'react'
import classes from './choice-group.module.css'
import hints from './field-hint.module.css'

/** What {@link ChoiceGroup} offers. */
export interface ChoiceGroupProps<T extends string> {
  readonly label: string
  readonly choices: readonly { readonly value: T; readonly label: string }[]
  readonly value: T
  /** Beside each other as one control, instead of one below the other. */
  readonly inline?: boolean
  /** What the present choice means. */
  readonly note?: string | undefined
  readonly fault?: string | undefined
  /** Whether it has the focus when its dialog opens. */
  readonly first?: boolean
  readonly onChange: (value: T) => void
}

/** One of a few, all in sight: native radio buttons, so the arrows choose. */
export function ChoiceGroup<T extends string>(props: ChoiceGroupProps<T>) {
  const { label, choices, value, inline = false, note, fault, first, onChange } = props
  const id = useId()
  return (
    <fieldset className={classes.group} aria-describedby={`${id}-fault ${id}-note`}>
      <legend className={classes.label}>{label}</legend>
      <div className={inline ? classes.inline : classes.stack}>
        {choices.map((choice) => (
          <label key={choice.value} className={classes.choice}>
            <input
              type="radio"
              name={id}
              value={choice.value}
              className={inline ? 'visually-hidden' : undefined}
              checked={choice.value === value}
              data-fault={(fault && choice.value === value) || undefined}
              data-autofocus={(first && choice.value === value) || undefined}
              onChange={() => onChange(choice.value)}
            />
            {choice.label}
          </label>
        ))}
      </div>
      <p id={`${id}-note`} className={hints.note}>
        {note}
      </p>
      <p id={`${id}-fault`} role="alert" className={hints.fault}>
        {fault}
      </p>
    </fieldset>
  )
}
