import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { chromium } from '@playwright/test'
import { CHROMIUM_ARGS, CHROMIUM_RECORD } from '../e2e/support/chromium.ts'
import { installFromDebian } from './debian.ts'
import { runCommand } from './run-command.ts'

const DEBIAN = '/usr/bin/chromium'

/** Whether this Chromium starts and shows a page; being there is not enough. */
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
 * Finds a Chromium that really starts, and fetches one if there is none: Playwright's own download
 * first, then Debian's package. What was found is kept in {@link CHROMIUM_RECORD}, so
 * that `npx playwright test` alone finds it too.
 *
 * @returns its path; `undefined` when none can be had
 */
export async function findChromium(): Promise<string | undefined> {
  const own = chromium.executablePath()
  const root = process.getuid?.() === 0
  /** Ways to a Chromium, each tried only when the ones before led to none. */
  const ways: readonly (() => Promise<string> | string)[] = [
    () => process.env.GATEHOUSE_CHROMIUM ?? '',
    found,
    () => own,
    () => DEBIAN,
    async () => {
      process.stdout.write('Downloading Chromium.\n')
      const exitCode = await playwright('install', '--no-shell', 'chromium')
      if (exitCode !== 0) process.stdout.write('It cannot be downloaded here.\n')
      return own
    },
    async () => {
      // Downloaded, but not starting: it misses libraries of the system.
      if (root && existsSync(own)) await playwright('install-deps', 'chromium')
      return existsSync(own) ? own : ''
    },
    async () => ((await installFromDebian('chromium')) ? DEBIAN : ''),
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
