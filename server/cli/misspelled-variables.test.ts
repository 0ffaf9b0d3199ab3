import { expect, test } from 'vitest'
import { findUnknownVariables } from './misspelled-variables.ts'

const messageOf = (name: string, value = '1') => findUnknownVariables({ [name]: value })

test.each([
  ['GATEHOUSE_PORT', 'GATEHOUSE_ENDPOINTS'],
  ['GATEHOUSE_LISTEN_ADDRESS', 'GATEHOUSE_ENDPOINTS'],
  ['GATEHOUSE_DATA_DIR', 'GATEHOUSE_DATA'],
  ['GATEHOUSE_LOG_LEVEL', 'GATEHOUSE_LOG'],
  ['GATEHOUSE_DATABASE', 'GATEHOUSE_DATABASE_URL'],
  ['GATEHOUSE_TLS_KEY_FILE', 'GATEHOUSE_TLS_KEY'],
  ['GATEHOUSE_URL', 'GATEHOUSE_DATABASE_URL or GATEHOUSE_PUBLIC_URL'],
])('%s is reported with %s', (name, meant) => {
  expect(messageOf(name)).toEqual([
    `${name} is not a setting and is ignored. Did you mean ${meant}?`,
  ])
})

test('a variable that resembles no setting is reported alone', () => {
  for (const name of ['GATEHOUSE_COLOR', 'GATEHOUSE_CLIENT_ID']) {
    expect(messageOf(name)).toEqual([`${name} is not a setting and is ignored.`])
  }
})

test('variables that are settings, or that Kubernetes adds for a service, are not reported', () => {
  const names = ['GATEHOUSE_SERVICE_HOST', 'GATEHOUSE_DATA_SERVICE_PORT_HTTP', 'GATEHOUSE_LOG']
  for (const name of names) expect(messageOf(name)).toEqual([])
  for (const name of ['GATEHOUSE_PORT', 'GATEHOUSE_PORT_80_TCP', 'GATEHOUSE_PORT_80_TCP_ADDR']) {
    expect(messageOf(name, 'tcp://10.0.0.1:80')).toEqual([])
  }
  expect(findUnknownVariables({ PORT: '80', GATEHOUSE_SECRET_KEY_FILE: 'key' })).toEqual([])
})
