import classes from '../../ui/table/row-checkbox.module.css'

export interface SelectionCheckboxProps {
  readonly label: string
  /** Whether the label is shown beside the box. */
  readonly isLabelShown?: boolean
  readonly checked: boolean
  readonly isSome?: boolean
  readonly tabIndex?: number
  readonly onToggle: (extend: boolean) => void
}

/** Checkbox of a document or of a page. A native input, because there are many. */
export function SelectionCheckbox(props: SelectionCheckboxProps) {
  const { label, isLabelShown = false, checked, isSome = false, tabIndex, onToggle } = props
  return (
    <label className={isLabelShown ? classes.labelled : classes.target}>
      <input
        type="checkbox"
        className={classes.box}
        aria-label={label}
        checked={checked}
        tabIndex={tabIndex}
        ref={(box) => {
          if (box !== null) box.indeterminate = isSome
        }}
        onChange={({ nativeEvent }) =>
          onToggle(nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
        }
      />
      {isLabelShown && label}
    </label>
  )
}
