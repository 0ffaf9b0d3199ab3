import { TextInput, type TextInputProps } from '@mantine/core'
import type { Ref } from 'react'

/** A text field for a name, an address or an id: monospaced, and never corrected by the browser. */
export function CodeInput(props: TextInputProps & { ref?: Ref<HTMLInputElement> }) {
  return (
    <TextInput
      classNames={{ input: 'mono' }}
      spellCheck={false}
      autoComplete="off"
      autoCapitalize="off"
      {...props}
    />
  )
}
