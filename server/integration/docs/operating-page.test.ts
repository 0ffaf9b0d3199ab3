import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'

const page = readFileSync(new URL('../../../docs/operating.md', import.meta.url), 'utf8')

test('docs/operating.md creates the folders of backup and restore for the user of the service', () => {
  const owned = [...page.matchAll(/^install -d -o gatehouse .*?(\S+)$/gm)].map(
    ([, folder]) => folder,
  )
  const backups = [...page.matchAll(/^(.*)bin\/gatehouse\.js backup (\S+)$/gm)]
  expect(backups.length).toBeGreaterThanOrEqual(2)
  for (const [, before, folder = ''] of backups) {
    expect(before).toContain('runuser -u gatehouse')
    expect(owned).toContain(dirname(folder))
  }
  const restored = [...page.matchAll(/GATEHOUSE_DATA=(\S+-restored)$/gm)]
  expect(restored.length).toBeGreaterThanOrEqual(1)
  for (const [, folder] of restored) expect(owned).toContain(folder)
})
