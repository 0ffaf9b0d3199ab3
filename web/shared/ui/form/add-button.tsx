import { Button, type ButtonProps } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import type { ComponentProps } from 'react'

/** A button that adds something, with a plus. Primary unless another variant is given. */
export function AddButton(props: ButtonProps & ComponentProps<'button'>) {
  return (
    <Button
      variant="filled"
      leftSection={<IconPlus size={16} stroke={1.75} aria-hidden="true" />}
      {...props}
    />
  )
}
