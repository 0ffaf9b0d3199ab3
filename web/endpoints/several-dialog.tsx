import type { SeveralAction } from './selection-bar.tsx'
import type { SeveralProps } from './several-place.tsx'

export function SeveralDialog(_: SeveralProps & { action: SeveralAction; onClose: () => void }) {
  return null
}
