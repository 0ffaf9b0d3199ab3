import { useLocation, useRouter } from '@tanstack/react-router'
import { isClosing, useDialogNavigation } from '../use-dialog-navigation.ts'

/** A dialog that can open over any page. */
export type Layer = (typeof LAYERS)[number]

const LAYERS = ['search', 'keys', 'about'] as const

const layerOf = (hash: string): Layer | undefined => LAYERS.find((layer) => layer === hash)

const at = (hash: Layer | '') => ({
  to: '.',
  search: true as const,
  hash,
  hashScrollIntoView: false,
})

/** Returns the open layer, stored in the URL fragment so that going back closes it. */
export function useLayer() {
  const hash = useLocation({ select: ({ hash }) => hash })
  const { history } = useRouter()
  const dialogs = useDialogNavigation()
  const currentLayer = () => (isClosing() ? undefined : layerOf(history.location.hash.slice(1)))
  const close = () => dialogs.close(at(''))
  const open = (next: Layer) =>
    currentLayer() === undefined ? dialogs.open(at(next)) : dialogs.replace(at(next))
  /** Returns whether a layer is in the current URL. It may not be rendered yet. */
  const isOpen = (wanted: Layer) => currentLayer() === wanted
  return {
    layer: layerOf(hash),
    isOpen,
    close,
    open,
    toggle: (next: Layer) => (isOpen(next) ? close() : open(next)),
  }
}
