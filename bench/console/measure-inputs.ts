import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from '@playwright/test'
import { beforeInput, createProcessorProbe, inputPaintTime } from './console-probe.ts'

const ROUNDS = 5

/** Measurements of inputs, ms: until painted, and of the processor. */
export interface Inputs {
  readonly painted: number[]
  readonly processor: number[]
}

/** Types into the filter, which narrows the rows, then deletes the text letter by letter. */
export async function measureKeystrokes(page: Page, addresses: readonly string[]): Promise<Inputs> {
  const digit = [...'3456890127'].find(
    (one) => !(addresses[0] as string).slice(6, -6).includes(one),
  )
  if (digit === undefined) throw new Error('every digit is in the host: nothing to filter by')
  const filter = page.getByRole('searchbox', { name: 'Filter endpoints' })
  const all: Inputs = { painted: [], processor: [] }
  const processor = await createProcessorProbe(page)
  await filter.focus()
  const press = async (key: string, text: string) => {
    const left = addresses.filter((address) => address.includes(text)).length
    await beforeInput(page, {
      event: 'keydown',
      selector: `table[aria-rowcount="${left + 1}"]`,
    })
    const before = await processor()
    await page.keyboard.press(key)
    all.painted.push(await inputPaintTime(page))
    all.processor.push((await processor()) - before)
    await pause(300)
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (let length = 1; length <= 3; length++) await press(digit, digit.repeat(length))
    for (let length = 2; length >= 0; length--) await press('Backspace', digit.repeat(length))
  }
  return all
}

/** Sorts the table by three columns in turn. */
export async function measureSorts(page: Page): Promise<Inputs> {
  const all: Inputs = { painted: [], processor: [] }
  const processor = await createProcessorProbe(page)
  for (let round = 0; round < ROUNDS; round++) {
    for (const column of ['Databases', 'State', 'Address']) {
      const head = page.getByRole('columnheader', { name: column })
      const button = head.getByRole('button')
      for (let press = 0; press < 2; press++) {
        const now = await head.getAttribute('aria-sort')
        const next = now === 'ascending' ? 'descending' : 'ascending'
        // The table is sorted by address, ascending, at first; the second press restores that
        // order.
        await beforeInput(page, { event: 'click', selector: `th[aria-sort="${next}"]` })
        const before = await processor()
        await button.click()
        all.painted.push(await inputPaintTime(page))
        all.processor.push((await processor()) - before)
        await pause(300)
      }
    }
  }
  return all
}
