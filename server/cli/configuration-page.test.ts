import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { commandPath, createProgram, leafCommands } from './program.ts'
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
  const commands = leafCommands(createProgram('1.2.3', async () => {}))
  expect(commands.length).toBeGreaterThan(8)
  for (const command of commands) expect(page).toContain(`gatehouse ${commandPath(command)}\``)
})
