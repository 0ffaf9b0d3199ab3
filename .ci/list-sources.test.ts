import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { listSources } from './list-sources.ts'

test('lists tracked and new files, and no ignored or deleted ones', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const write = (file: string, text = '') => writeFileSync(path.join(folder, file), text)
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder })
  git('init', '--quiet')
  write('.gitignore', 'ignored.ts')
  write('tracked.ts')
  write('deleted.ts')
  git('add', '.')
  rmSync(path.join(folder, 'deleted.ts'))
  write('new.ts')
  write('ignored.ts')
  expect(listSources(folder).sort()).toEqual(['.gitignore', 'new.ts', 'tracked.ts'])
})
