import type { Page } from '@playwright/test'

declare global {
  interface Window {
    /** When the first rows were painted, ms since the navigation began. */
    firstRows?: Promise<number>
    /** When what was last asked for by {@link beforeInput} was painted, ms after the input. */
    answered?: Promise<number>
    /** When the count of endpoints was painted in the form waited for, ms since 1970. */
    told?: Promise<number>
  }
}

/** What is to be in the page when an input has been answered. */
export interface Expected {
  /** The event that begins the measure. */
  readonly event: 'keydown' | 'click'
  /** An element that is there by then. */
  readonly selector: string
}

/** In every document of a page from now on, notes when the first rows of endpoints are painted. */
export async function noteFirstRows(page: Page): Promise<void> {
  await page.addInitScript(() => {
    window.firstRows = new Promise((resolve) => {
      const observer = new MutationObserver(() => {
        if (document.querySelector('[data-row]') === null) return
        observer.disconnect()
        // A message that is sent in a frame comes after its painting.
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

/** Waits for the next input; {@link answerTime} then has its time. */
export async function beforeInput(page: Page, expected: Expected): Promise<void> {
  await page.evaluate(({ event, selector }) => {
    window.answered = new Promise((resolve) => {
      const begin = ({ timeStamp }: Event) => {
        const look = () => {
          const { port1, port2 } = new MessageChannel()
          port1.onmessage = () => {
            if (document.querySelector(selector) === null) requestAnimationFrame(look)
            else resolve(performance.now() - timeStamp)
          }
          port2.postMessage(undefined)
        }
        requestAnimationFrame(look)
      }
      addEventListener(event, begin, { capture: true, once: true })
    })
  }, expected)
}

/** From the input until what it asks for was painted, ms. */
export const answerTime = (page: Page): Promise<number> =>
  page.evaluate(() => window.answered as Promise<number>)

/** Waits until the page counts that many endpoints; {@link toldAt} then has the time. */
export async function beforeChange(page: Page, endpoints: number): Promise<void> {
  await page.evaluate(
    (text) => {
      window.told = new Promise((resolve) => {
        const look = () => {
          const { port1, port2 } = new MessageChannel()
          port1.onmessage = () => {
            const buttons = [...document.querySelectorAll('main fieldset button')]
            if (buttons.some(({ textContent }) => textContent === text)) resolve(Date.now())
            else requestAnimationFrame(look)
          }
          port2.postMessage(undefined)
        }
        requestAnimationFrame(look)
      })
    },
    `${endpoints.toLocaleString('en')} endpoints`,
  )
}

/** When the count was painted, ms since 1970. */
export const toldAt = (page: Page): Promise<number> =>
  page.evaluate(() => window.told as Promise<number>)

/** What objects of JavaScript take in a page after collecting garbage, bytes. */
export async function createHeapProbe(page: Page): Promise<() => Promise<number>> {
  const devtools = await page.context().newCDPSession(page)
  return async () => {
    // Once marks, the second time frees what finalizers of the first let go.
    await devtools.send('HeapProfiler.collectGarbage')
    await devtools.send('HeapProfiler.collectGarbage')
    return (await devtools.send('Runtime.getHeapUsage')).usedSize
  }
}

/** What processor time the main thread of a page has had for its tasks, ms. */
export async function createProcessorProbe(page: Page): Promise<() => Promise<number>> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' })
  return async () => {
    const { metrics } = await devtools.send('Performance.getMetrics')
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1000
  }
}
