import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { forEngine } from '../test-support/each-engine.testing.ts'
import { createBackupFixture } from './backup.testing.ts'

const backup = createBackupFixture()

forEngine('sqlite', (engine) => {
  let data: string
  let target: string
  beforeEach(async () => {
    data = await backup.createWithKeys(engine)
    target = join(backup.parent, 'restored')
  })

  describe('the folder of a backup', () => {
    test('may be empty, and is rejected otherwise', async () => {
      rmSync(backup.folder, { recursive: true })
      mkdirSync(backup.folder)
      await backup.create({ data })
      await expect(backup.create({ data })).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('is not empty (backup.json, store.sqlite)'),
      })
      expect(readdirSync(backup.folder)).toHaveLength(2)
    })

    test('is rejected if it is a file', async () => {
      rmSync(backup.folder, { recursive: true })
      writeFileSync(backup.folder, '')
      await expect(backup.create({ data })).rejects.toMatchObject({
        code: 'conflict',
        message: `${backup.folder} is not a folder.`,
      })
    })
  })

  describe('a damaged backup', () => {
    const path = (name: string) => join(backup.folder, name)
    const expectRejected = async (code: string, message: string) => {
      await expect(backup.restoreTo({ data: target })).rejects.toMatchObject({
        code,
        message: expect.stringContaining(message),
      })
      expect(existsSync(target)).toBe(false)
    }

    test.each(['store.sqlite', 'operator.key', 'secret.key'])(
      'is rejected if a byte of %s has changed',
      async (name) => {
        const content = readFileSync(path(name))
        const at = Math.floor(content.length / 2)
        content[at] = (content[at] ?? 0) ^ 1
        writeFileSync(path(name), content)
        await expectRejected('invalid', `${path(name)} does not match its checksum`)
      },
    )

    test('is rejected if a file is missing', async () => {
      rmSync(path('secret.key'))
      await expectRejected('unavailable', 'ENOENT')
    })

    test('is rejected without a manifest, as if it had been interrupted', async () => {
      rmSync(path('backup.json'))
      await expectRejected(
        'not-found',
        'does not contain a complete backup: backup.json is missing',
      )
    })

    test.each([
      ['', 'cannot be parsed'],
      ['{"format": 1}', 'cannot be parsed'],
      ['{"format": 2}', 'was made by a newer version of Gatehouse'],
    ])('is rejected with the manifest %j', async (text, message) => {
      writeFileSync(path('backup.json'), text)
      await expectRejected(text.includes('2') ? 'conflict' : 'invalid', message)
    })

    test('is rejected if the manifest has other row counts', async () => {
      const manifest = JSON.parse(readFileSync(path('backup.json'), 'utf8'))
      manifest.tables.documents++
      writeFileSync(path('backup.json'), JSON.stringify(manifest))
      await expectRejected('invalid', 'backup.json does not match store.sqlite')
    })

    test('is not created from a damaged database', async () => {
      const content = readFileSync(join(data, 'gatehouse.sqlite'))
      content.fill(0x5a, 8_192, 24_576)
      writeFileSync(join(data, 'gatehouse.sqlite'), content)
      rmSync(backup.folder, { recursive: true })
      await expect(backup.create({ data })).rejects.toMatchObject({
        message: expect.stringMatching(/malformed|damaged/),
      })
      expect(existsSync(backup.folder)).toBe(false)
    })
  })
})
