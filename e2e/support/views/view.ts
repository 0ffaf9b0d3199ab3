import type { Locator, Page } from '@playwright/test'
import type { Role } from '../../../server/contract/access/principal.ts'
import type { SampleData } from '../sample-data.ts'

/** A page or dialog of the console in a certain state, by its URL. */
export interface View {
  readonly name: string
  /** Returns its path. */
  readonly url: (sample: SampleData) => string
  /** Returns an element that exists once it is loaded. */
  readonly shows: (page: Page, sample: SampleData) => Locator
  /** Steps before it is checked. */
  readonly steps?: (page: Page, sample: SampleData) => Promise<unknown>
  /** The lowest role with access; default viewer. */
  readonly needs?: Role
  /** The text shown to lower roles. */
  readonly refusal?: string
  /** The status of its response, if it is an error. */
  readonly status?: number
  /** Whether it has a different layout on narrow screens: a list instead of a table. */
  readonly list?: true
  /** Names of controls that operators have and viewers do not; the page explains to viewers why. */
  readonly changes?: readonly RegExp[]
}

export const dialog = (name: string) => (page: Page) => page.getByRole('dialog', { name })
export const heading = (name: string) => (page: Page) =>
  page.getByRole('heading', { level: 1, name })
export const save = (page: Page) => page.keyboard.press('Control+Enter')

/** The refusal of a form that only operators may use. */
export const VIEWER = 'You are a viewer'
