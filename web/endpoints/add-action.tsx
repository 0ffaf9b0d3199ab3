import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useMay } from '../person.ts'
import { preloadForms } from './row-dialogs.tsx'

/** The primary action of the table and of the map; to whom it is not offered it says why. */
export function AddAction({ onAdd }: { onAdd: () => void }) {
  if (!useMay('operator')) {
    return <p className="meta dim">You are a viewer: endpoints are changed by operators.</p>
  }
  return (
    <Button
      variant="filled"
      leftSection={<IconPlus size={16} stroke={1.75} aria-hidden="true" />}
      onClick={onAdd}
      onPointerEnter={preloadForms}
      onFocus={preloadForms}
    >
      Add endpoint
    </Button>
  )
}
