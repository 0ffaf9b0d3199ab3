import { pino } from 'pino'
import { expect, test } from 'vitest'
import { replaceControls, replaceControlsInJson } from './control-characters.ts'

const STRANGE = 'é\u{1B}[2J\u{7F}\u{9B}31m\u{202E}\u{2028}\u{1F600}"\\u001b\\'
const PLAIN = 'é\u{FFFD}[2J\u{FFFD}\u{FFFD}31m\u{FFFD}\u{FFFD}\u{1F600}"\\u001b\\'

test('a text contains no control characters', () => {
  expect(replaceControls(STRANGE)).toBe(PLAIN)
})

test('a line of the log contains no control characters, and keeps the line breaks of a stack', () => {
  const lines: string[] = []
  const hooks = { streamWrite: replaceControlsInJson }
  const log = pino({ hooks }, { write: (line: string) => lines.push(line) })
  log.warn({ name: STRANGE, stack: 'a\n\tb' }, 'a message')
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ name: PLAIN, stack: 'a\n\tb' })
})
