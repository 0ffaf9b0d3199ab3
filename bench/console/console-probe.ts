import type { Page } from '@playwright/test'

declare global {
  interface Window {
    /** When the first rows were painted, ms since the navigation began. */
    firstRows?: Promise<number>
    /** When the response to the input of {@link beforeInput} was painted, ms after the input. */
    inputPainted?: Promise<number>
    /** When the expected number of endpoints was painted, ms since 1970. */
    changePainted?: Promise<number>
  }
}

/** The expected state of the page after an input. */
export interface Expected {
  /** The event that starts the measurement. */
  readonly event: 'keydown' | 'click'
  /** An element that exists by then. */
  readonly selector: string
}

/** Records in every later document of a page when the first rows of endpoints are painted. */
export async function recordFirstRows(page: Page): Promise<void> {
  await page.addInitScript(() => {
    window.firstRows = new Promise((resolve) => {
      const observer = new MutationObserver(() => {
        if (document.querySelector('[data-row]') === null) return
        observer.disconnect()
        // A message that is posted in a frame is handled after the frame is painted.
        requestAnimationFrame(() => {
          const { port1, port2 } = new MessageChannel()
          port1.onmessage = () => resolve(performance.now())
          port2.postMessage(undefined)
        })
      })
      observer.observe(document, { childList: true, subtree: true })
    })
  })
}

/** Starts measuring the next input; {@link inputPaintTime} returns its time. */
export async function beforeInput(page: Page, expected: Expected): Promise<void> {
  await page.evaluate(({ event, selector }) => {
    window.inputPainted = new Promise((resolve) => {
      const begin = ({ timeStamp }: Event) => {
        const check = () => {
          const { port1, port2 } = new MessageChannel()
          port1.onmessage = () => {
            if (document.querySelector(selector) === null) requestAnimationFrame(check)
            else resolve(performance.now() - timeStamp)
          }
          port2.postMessage(undefined)
        }
        requestAnimationFrame(check)
      }
      addEventListener(event, begin, { capture: true, once: true })
    })
  }, expected)
}

/** Returns the time from the input until its result was painted, ms. */
export const inputPaintTime = (page: Page): Promise<number> =>
  page.evaluate(() => window.inputPainted as Promise<number>)

/**
 * Starts waiting until the page shows this number of endpoints; {@link changePaintedAt} returns the time.
 */
export async function beforeChange(page: Page, endpoints: number): Promise<void> {
  await page.evaluate(
    (text) => {
      window.changePainted = new Promise((resolve) => {
        const check = () => {
          const { port1, port2 } = new MessageChannel()
          port1.onmessage = () => {
            const buttons = [...document.querySelectorAll('main fieldset button')]
            if (buttons.some(({ textContent }) => textContent === text)) resolve(Date.now())
            else requestAnimationFrame(check)
          }
          port2.postMessage(undefined)
        }
        requestAnimationFrame(check)
      })
    },
    `${endpoints.toLocaleString('en')} endpoints`,
  )
}

/** Returns when the number of endpoints was painted, ms since 1970. */
export const changePaintedAt = (page: Page): Promise<number> =>
  page.evaluate(() => window.changePainted as Promise<number>)

/**
 * Returns a function that measures the JavaScript heap of a page after garbage collection, bytes.
 */
export async function createHeapProbe(page: Page): Promise<() => Promise<number>> {
  const devtools = await page.context().newCDPSession(page)
  return async () => {
    // The second collection frees what finalizers of the first released.
    await devtools.send('HeapProfiler.collectGarbage')
    await devtools.send('HeapProfiler.collectGarbage')
    return (await devtools.send('Runtime.getHeapUsage')).usedSize
  }
}

/** Returns a function that reads the CPU time of a page's main-thread tasks, ms. */
export async function createProcessorProbe(page: Page): Promise<() => Promise<number>> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' })
  return async () => {
    const { metrics } = await devtools.send('Performance.getMetrics')
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1000
  }
}
