import { appendFileSync, readFileSync } from 'node:fs'
import { z } from 'zod'

/** The variable that names the file to which the reporters of Vitest and Playwright append. */
export const EVENTS_VARIABLE = 'GATEHOUSE_TEST_EVENTS'

const eventSchema = z.discriminatedUnion('type', [
  /** The number of tests of the whole run, if the runner knows it in advance. */
  z.object({ type: z.literal('planned'), tests: z.number() }),
  z.object({ type: z.literal('started'), id: z.string(), title: z.string() }),
  z.object({
    type: z.literal('ended'),
    id: z.string(),
    title: z.string(),
    /** `flaky` if the test passed after a failed attempt, whose error this is. */
    status: z.enum(['passed', 'flaky', 'failed', 'skipped']),
    error: z.string().optional(),
  }),
  /** A failure outside a test: a file that cannot be loaded, a hook. */
  z.object({ type: z.literal('failed'), title: z.string(), error: z.string().optional() }),
])

/** The result of a test. */
export type TestStatus = Extract<TestEvent, { type: 'ended' }>['status']

/** An event of a test run, stored as a line of JSON. */
export type TestEvent = z.infer<typeof eventSchema>

/** Appends an event synchronously, so that a killed runner loses no earlier events. */
export function writeEvent(event: TestEvent): void {
  const file = process.env[EVENTS_VARIABLE]
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(event)}\n`)
}

/**
 * Reads the events in a file, ignoring an incomplete last line.
 *
 * @returns `undefined` if there is no such file
 */
export function readEvents(file: string): TestEvent[] | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
  const lines = text.split('\n').slice(0, -1)
  return lines.map((line) => eventSchema.parse(JSON.parse(line)))
}
