import { Tooltip } from '@mantine/core'
import { useCallback, useEffect, useState } from 'react'
import { chooseSide, OFFSET, type Side } from './choose-position.ts'

/** Id of the tooltip's text. */
const ID = 'tooltip'

const CONTROLS = 'a[href], button, input, select, textarea'

/** Mantine's tooltip, initially open, attached to an existing element. */
export function TooltipBox(props: { element: HTMLElement; onClose: () => void }) {
  const { element, onClose } = props
  const [side, setSide] = useState<Side>('bottom')
  const measure = useCallback(
    (text: HTMLElement | null) => {
      const box = text?.parentElement
      if (box) setSide(sideOf(element, box))
    },
    [element],
  )
  useEffect(() => {
    const before = element.getAttribute('aria-describedby')
    element.setAttribute('aria-describedby', before === null ? ID : `${before} ${ID}`)
    return () => {
      if (before === null) element.removeAttribute('aria-describedby')
      else element.setAttribute('aria-describedby', before)
    }
  }, [element])
  return (
    <Tooltip
      target={element}
      label={
        <span id={ID} ref={measure}>
          {element.dataset.tip}
        </span>
      }
      defaultOpened
      interactive
      multiline
      position={side}
      offset={OFFSET}
      middlewares={{ flip: false, shift: true }}
      // Rendered in place, inside a landmark.
      withinPortal={false}
      floatingStrategy="fixed"
      zIndex={400}
      transitionProps={{ transition: 'fade', duration: 120, onExit: onClose }}
    />
  )
}

/** Returns the side of an element where its tooltip covers the fewest controls. */
function sideOf(element: HTMLElement, tooltip: HTMLElement): Side {
  const around = element.closest('[role="dialog"]') ?? document
  const controls = [...around.querySelectorAll(CONTROLS)]
    .filter((each) => !each.contains(element) && !element.contains(each))
    .map((each) => each.getBoundingClientRect())
  const { offsetWidth: width, offsetHeight: height } = tooltip
  const view = { width: innerWidth, height: innerHeight }
  return chooseSide(element.getBoundingClientRect(), { width, height }, controls, view)
}
