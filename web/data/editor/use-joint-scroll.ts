import { type RefObject, useEffect } from 'react'

/** Input that makes a part the one that scrolls the others. */
const INPUTS = ['wheel', 'pointerdown', 'touchstart', 'keydown'] as const

/**
 * Scrolls all parts of an element that match a selector together when the user scrolls one of them,
 * each by the same share of its height. Scrolling by code moves one part only.
 */
export function useJointScroll(container: RefObject<HTMLElement | null>, selector: string): void {
  useEffect(() => {
    const element = container.current
    if (element === null) return
    const controller = new AbortController()
    const options = { capture: true, passive: true, signal: controller.signal }
    let source: Element | null = null
    const partOf = ({ target }: Event) =>
      target instanceof Element ? target.closest(selector) : null
    for (const input of INPUTS) {
      element.addEventListener(
        input,
        (event) => {
          source = partOf(event)
        },
        options,
      )
    }
    element.addEventListener(
      'scroll',
      ({ target }) => {
        if (!(target instanceof Element) || target !== source) return
        for (const part of element.querySelectorAll(selector)) {
          if (part !== target) part.scrollTop = scaleScroll(target, part)
        }
      },
      options,
    )
    return () => controller.abort()
  }, [container, selector])
}

type Scrolled = Pick<Element, 'scrollTop' | 'scrollHeight' | 'clientHeight'>

/** Returns where a part is scrolled by the same share of its height as another one. */
export function scaleScroll(from: Scrolled, to: Omit<Scrolled, 'scrollTop'>): number {
  const room = from.scrollHeight - from.clientHeight
  return room <= 0 ? 0 : (from.scrollTop / room) * (to.scrollHeight - to.clientHeight)
}
