import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { chromium } from '@playwright/test'
import { CHROMIUM_ARGS, CHROMIUM_RECORD } from '../../e2e/support/chromium.ts'
import { runCommand } from '../run-command.ts'
import { installFromDebian } from './debian.ts'

/** Debian's packages and their executables. The headless shell takes a sixth less time. */
const DEBIAN = [
  { name: 'chromium-headless-shell', program: '/usr/bin/chromium-headless-shell' },
  { name: 'chromium', program: '/usr/bin/chromium' },
]

/** Returns whether this Chromium starts and shows a page. */
async function launches(executablePath: string): Promise<boolean> {
  if (!existsSync(executablePath)) return false
  try {
    const browser = await chromium.launch({ executablePath, args: CHROMIUM_ARGS, timeout: 30_000 })
    try {
      const page = await browser.newPage()
      await page.setContent('<title>works</title>')
      return (await page.title()) === 'works'
    } finally {
      await browser.close()
    }
  } catch {
    return false
  }
}

const found = () => {
  try {
    return readFileSync(CHROMIUM_RECORD, 'utf8').trim()
  } catch {
    return ''
  }
}

const playwright = (...args: string[]) =>
  runCommand('playwright', args, { limit: 150, quiet: true })

/**
 * Finds a Chromium that starts. If there is none, installs Playwright's download or else Debian's
 * package. Stores the path in {@link CHROMIUM_RECORD}, where `npx playwright test` finds it too.
 *
 * @returns its path; `undefined` if none is available
 */
export async function findChromium(): Promise<string | undefined> {
  const bundled = chromium.executablePath()
  const root = process.getuid?.() === 0
  /** Ways to get a Chromium, tried in order until one works. */
  const ways: readonly (() => Promise<string> | string)[] = [
    () => process.env.GATEHOUSE_CHROMIUM ?? '',
    found,
    () => bundled,
    ...DEBIAN.map(
      ({ program }) =>
        () =>
          program,
    ),
    async () => {
      process.stdout.write('Downloading Chromium.\n')
      const exitCode = await playwright('install', '--no-shell', 'chromium')
      if (exitCode !== 0) process.stdout.write('It cannot be downloaded here.\n')
      return bundled
    },
    async () => {
      // The download exists but does not start: system libraries are missing.
      if (root && existsSync(bundled)) await playwright('install-deps', 'chromium')
      return existsSync(bundled) ? bundled : ''
    },
    ...DEBIAN.map(({ name, program }) => async () => {
      return (await installFromDebian(name)) ? program : ''
    }),
  ]
  for (const way of ways) {
    const candidate = await way()
    if (candidate === '' || !(await launches(candidate))) continue
    mkdirSync(path.dirname(CHROMIUM_RECORD), { recursive: true })
    writeFileSync(CHROMIUM_RECORD, `${candidate}\n`)
    return candidate
  }
  return undefined
}
