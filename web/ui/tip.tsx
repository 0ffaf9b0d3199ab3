import { type ReactElement, useEffect, useLayoutEffect, useRef, useState } from 'react'
import classes from './tip.module.css'

/** How long the pointer rests before a tip shows, in milliseconds; the focus shows it at once. */
const REST_MS = 300

/**
 * The one tooltip of the page: shows the `data-tip` of whatever is pointed at or focused. One for
 * all, since a table of ten thousand rows cannot afford one each. Esc hides it (WCAG 1.4.13).
 */
export function Tip(): ReactElement {
  const [owner, setOwner] = useState<HTMLElement>()
  const tip = useRef<HTMLDivElement>(null)

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const show = (event: Event, wait: number) => {
      const target = event.target instanceof Element ? event.target : null
      if (target !== null && tip.current?.contains(target)) return
      const found = target?.closest<HTMLElement>('[data-tip]') ?? undefined
      clearTimeout(timer)
      timer = setTimeout(() => setOwner(found), found === undefined ? 100 : wait)
    }
    const onOver = (event: Event) => show(event, REST_MS)
    const onFocus = (event: Event) => show(event, 0)
    const onKey = (event: KeyboardEvent) => event.key === 'Escape' && setOwner(undefined)
    const hide = () => setOwner(undefined)
    document.addEventListener('pointerover', onOver)
    document.addEventListener('focusin', onFocus)
    document.addEventListener('focusout', hide)
    document.addEventListener('keydown', onKey)
    // What is pointed at may say something else with the next letter in a filter.
    document.addEventListener('input', hide)
    addEventListener('scroll', hide, true)
    addEventListener('resize', hide)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('pointerover', onOver)
      document.removeEventListener('focusin', onFocus)
      document.removeEventListener('focusout', hide)
      document.removeEventListener('keydown', onKey)
      document.removeEventListener('input', hide)
      removeEventListener('scroll', hide, true)
      removeEventListener('resize', hide)
    }
  }, [])

  useLayoutEffect(() => {
    const box = tip.current
    if (owner === undefined || box === null) return
    const at = owner.getBoundingClientRect()
    const left = Math.min(at.left, innerWidth - box.offsetWidth - 8)
    const below = at.bottom + 4
    const fits = below + box.offsetHeight < innerHeight
    box.style.left = `${Math.max(8, left)}px`
    box.style.top = `${fits ? below : at.top - box.offsetHeight - 4}px`
    owner.setAttribute('aria-describedby', 'tip')
    return () => owner.removeAttribute('aria-describedby')
  }, [owner])

  return (
    <div id="tip" role="tooltip" ref={tip} className={classes.tip} hidden={owner === undefined}>
      {owner?.dataset.tip}
    </div>
  )
}
