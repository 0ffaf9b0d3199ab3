import { expect, test } from 'vitest'
import { readAddress } from '../../address.ts'
import { conflicts } from './bind-failure.ts'

test.each([
  ['tcp://127.0.0.1:80', 'ssl://127.0.0.1:80', true],
  ['tcp://127.0.0.1:80', 'tcp://127.0.0.1:81', false],
  ['tcp://127.0.0.1:80', 'tcp://127.0.0.2:80', false],
  ['tcp://127.0.0.1:80', 'tcp://0.0.0.0:80', true],
  ['tcp://[fd00::1]:80', 'tcp://[::]:80', true],
  ['tcp://[fd00::1]:80', 'tcp://[fd00::2]:80', false],
  ['tcp://[fd00::1]:80', 'tcp://127.0.0.1:80', false],
  ['tcp://[fd00::1]:80', 'tcp://0.0.0.0:80', false],
  ['tcp://[::]:80', 'tcp://0.0.0.0:80', false],
  ['tcp://[fe80::1%eth0]:80', 'tcp://[fe80::1%eth1]:80', false],
  ['tcp://localhost:80', 'tcp://127.0.0.2:80', true],
  ['tcp://localhost:80', 'tcp://[::1]:80', true],
  ['unix:///run/a.sock', 'unix:///run/a.sock', true],
  ['unix:///run/a.sock', 'unix:///run/b.sock', false],
  ['unix:///run/a.sock', 'tcp://127.0.0.1:80', false],
])('whether %s and %s conflict: %s', (one, other, expected) => {
  const [first, second] = [readAddress(one), readAddress(other)]
  expect([conflicts(first, second), conflicts(second, first)]).toEqual([expected, expected])
})
