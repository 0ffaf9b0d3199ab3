import type { Page } from '@playwright/test'

/**
 * Focuses each control of the page, or of its topmost dialog, as the keyboard would. Returns the
 * problems: a page wider than the window, text cut off at its edge, and controls that do not scroll
 * into view, are covered, or show no focus.
 */
export async function findClippedControls(page: Page): Promise<readonly string[]> {
  // A key press makes the browser show keyboard focus.
  await page.keyboard.press('Shift')
  return page.evaluate(() => {
    const found: string[] = []
    const root = document.documentElement
    if (root.scrollWidth > innerWidth) found.push(`the page is ${root.scrollWidth} px wide`)
    const over = [...document.querySelectorAll<HTMLElement>('[aria-modal="true"]')].at(-1)
    const view = over ?? document.body
    const seen = (each: Element) =>
      each.checkVisibility({ visibilityProperty: true, opacityProperty: true })
    const describe = (each: Element) => each.outerHTML.slice(0, 160)

    const scrolls = (each: Element) => {
      for (let at: Element | null = each; at !== null && at !== root; at = at.parentElement) {
        const { overflowX, clipPath } = getComputedStyle(at)
        if (/auto|scroll/.test(overflowX) || clipPath !== 'none') return true
      }
      return false
    }
    for (const each of view.querySelectorAll('*')) {
      const own = [...each.childNodes].some(
        (node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim() !== '',
      )
      if (!own || !seen(each)) continue
      const { left, right, width } = each.getBoundingClientRect()
      if (width > 1 && (right > innerWidth + 1 || left < -1) && !scrolls(each)) {
        found.push(`cut off at ${Math.round(left)}–${Math.round(right)}: ${describe(each)}`)
      }
    }

    const appearanceOf = (each: Element) => {
      const around = [
        each,
        each.parentElement,
        each.nextElementSibling,
        each.closest('label'),
        each.closest('.cm-editor'),
      ]
      return around
        .map((one) => {
          if (one === null) return ''
          const { outline, boxShadow, borderColor, backgroundColor } = getComputedStyle(one)
          return [outline, boxShadow, borderColor, backgroundColor].join()
        })
        .join('|')
    }
    const controls = view.querySelectorAll<HTMLElement>(
      'a[href], button, input, select, textarea, summary, [tabindex="0"], [contenteditable="true"]',
    )
    for (const each of controls) {
      if (each.tabIndex < 0 || each.closest('[inert]') !== null || !seen(each)) continue
      if ('disabled' in each && each.disabled === true) continue
      if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
      const before = appearanceOf(each)
      each.focus()
      if (document.activeElement !== each) {
        found.push(`takes no focus: ${describe(each)}`)
        continue
      }
      if (appearanceOf(each) === before) found.push(`shows no focus: ${describe(each)}`)
      const label = each instanceof HTMLInputElement ? (each.labels?.[0] ?? each) : each
      const { left, right, top, height, width } = each.getBoundingClientRect()
      const wide = width > innerWidth || scrolls(each)
      if (!wide && (left < -1 || right > innerWidth + 1)) {
        found.push(`beside the window, ${Math.round(left)}–${Math.round(right)}: ${describe(each)}`)
        continue
      }
      const x = Math.min(Math.max(left + width / 2, 1), innerWidth - 2)
      const y = Math.min(Math.max(top + height / 2, 1), innerHeight - 2)
      if (top > innerHeight || top + height < 0) {
        found.push(`out of sight at ${Math.round(top)}: ${describe(each)}`)
        continue
      }
      const hit = document.elementFromPoint(x, y)
      // A list of choices opens when its field gets the focus, and closes with it.
      if (hit?.closest('[role="listbox"]')) continue
      const own = hit !== null && (each.contains(hit) || hit.contains(each) || label.contains(hit))
      if (!own)
        found.push(`covered by ${hit === null ? 'nothing' : describe(hit)}: ${describe(each)}`)
    }
    return found
  })
}
