import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fingerprint, openOperatorKey, openSecretKey, renewOperatorKey } from './secret-files.ts'

let data: string
beforeEach(() => {
  data = join(mkdtempSync(join(tmpdir(), 'gatehouse-')), 'data')
})
afterEach(() => rmSync(join(data, '..'), { recursive: true }))

const modeOf = (name: string) => statSync(join(data, name)).mode & 0o777

describe('openOperatorKey', () => {
  it('creates a key of 256 bits at the first start, readable by the owner only', () => {
    const first = openOperatorKey(data, undefined)
    expect(first.isNew).toBe(true)
    expect(first.read()).toMatch(/^gatehouse-[0-9A-Za-z]{43}$/)
    expect(modeOf('operator.key')).toBe(0o600)
    const second = openOperatorKey(data, undefined)
    expect(second.isNew).toBe(false)
    expect(second.read()).toBe(first.read())
    expect(first.file).toBe(join(data, 'operator.key'))
  })

  it('uses a configured key and writes nothing', () => {
    const key = openOperatorKey(data, 'given')
    expect([key.read(), key.isNew, key.file]).toEqual(['given', false, null])
    expect(() => statSync(data)).toThrow('ENOENT')
  })

  it.each(['', '\n', 'gatehouse-', 'a key of four words, which is long enough'])(
    'rejects a file that contains %j, and leaves it as it is',
    (text) => {
      const key = openOperatorKey(data, undefined)
      writeFileSync(join(data, 'operator.key'), text)
      const rejected = /operator\.key does not contain an operator key of at least 32 characters/
      expect(() => openOperatorKey(data, undefined)).toThrow(rejected)
      expect(key.read).toThrow(rejected)
      expect(readFileSync(join(data, 'operator.key'), 'utf8')).toBe(text)
      const renewed = renewOperatorKey(data)
      expect(key.read()).toBe(renewed)
    },
  )

  it('detects a renewal while it runs', () => {
    const key = openOperatorKey(data, undefined)
    const old = key.read()
    const renewed = renewOperatorKey(data)
    expect(key.read()).toBe(renewed)
    expect(renewed).not.toBe(old)
    expect(modeOf('operator.key')).toBe(0o600)
    expect(fingerprint(renewed)).not.toBe(fingerprint(old))
    expect(renewed).not.toContain(fingerprint(renewed))
  })
})

describe('openSecretKey', () => {
  it('creates 32 bytes at the first start, readable by the owner only', () => {
    const key = openSecretKey(data, undefined)
    expect(key).toHaveLength(32)
    expect(modeOf('secret.key')).toBe(0o600)
    expect(openSecretKey(data, undefined)).toEqual(key)
    expect(readFileSync(join(data, 'secret.key'), 'utf8').trim()).toHaveLength(44)
  })

  it('names a file with other content', () => {
    openSecretKey(data, undefined)
    writeFileSync(join(data, 'secret.key'), 'short')
    expect(() => openSecretKey(data, undefined)).toThrow(
      /secret\.key does not contain a 32-byte key/,
    )
  })
})
