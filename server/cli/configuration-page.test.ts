import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { helpText } from './program.ts'
import { SETTINGS, VARIABLES } from './settings.ts'

const read = (page: string) => readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8')
const page = read('configuration.md')

test('docs/configuration.md documents every flag with its variable', () => {
  for (const { flag, value, env } of SETTINGS) {
    expect(page).toContain(`| \`--${flag} ${value}\` | \`${env}\``)
  }
})

test('docs/configuration.md or docs/sign-in.md documents every other variable', () => {
  const pages = page + read('sign-in.md')
  for (const { env } of VARIABLES) expect(pages).toContain(`\`${env}\``)
})

test('docs/configuration.md documents every command with its operands and flags', () => {
  const calls = helpText().match(/^ {2}gatehouse (?!\[start\]|--help).*$/gm) ?? []
  expect(calls.length).toBeGreaterThan(8)
  for (const call of calls) expect(page).toContain(`\`${call.trim()}`)
})
