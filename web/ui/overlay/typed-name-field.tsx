import { TextInput, type TextInputProps } from '@mantine/core'

export interface TypedNameFieldProps extends Omit<TextInputProps, 'label' | 'name'> {
  /** The name to type. */
  readonly name: string
  /** What typing the name does, such as "drop it". */
  readonly effect: string
}

/** Returns whether the user typed a name. */
export const isTypedName = (typed: string, name: string): boolean => typed.trim() === name

/** Field into which the user types a name, to confirm an action that cannot be undone. */
export function TypedNameField({ name, effect, ...input }: TypedNameFieldProps) {
  return (
    <TextInput
      label={
        <>
          Type <span className="mono">{name}</span> to {effect}
        </>
      }
      classNames={{ input: 'mono' }}
      spellCheck={false}
      autoComplete="off"
      autoCapitalize="off"
      {...input}
    />
  )
}
