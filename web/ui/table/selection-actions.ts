import type { ReactNode } from 'react'

export interface SelectionAction {
  readonly label: string
  readonly onClick: () => void
  /** Shown on a phone in place of the label. Without one, a menu contains the action if compact. */
  readonly icon?: ReactNode
  readonly variant?: 'default' | 'subtle'
}

export interface SelectionBarProps {
  readonly label: string
  readonly className?: string | undefined
  /** How many records are selected. */
  readonly status: string
  readonly actions: readonly SelectionAction[]
  /** Whether a menu contains the actions without an icon, as always on a phone. */
  readonly compact?: boolean
  readonly onClear: () => void
  /** Called before an action is likely chosen. */
  readonly onIntent?: () => void
}

export type SelectionContentProps = SelectionBarProps & { readonly children: ReactNode }
