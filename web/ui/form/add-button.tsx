import { Button, type ButtonProps } from '@mantine/core'
import type { ComponentProps } from 'react'
import { IconPlus } from '../icon/icons.tsx'

/** A button that adds something, with a plus. Primary unless another variant is given. */
export function AddButton(props: ButtonProps & ComponentProps<'button'>) {
  return <Button variant="filled" leftSection={<IconPlus stroke={1.75} />} {...props} />
}
