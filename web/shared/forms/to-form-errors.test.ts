import { expect, test } from 'vitest'
import { ApiFailure } from '../../api/client.ts'
import { toFormErrors } from './to-form-errors.ts'

const rejection = (field?: string) =>
  new ApiFailure(400, 10, 'Invalid.', field === undefined ? {} : { field })

test.each([
  ['the name', rejection('/name'), 'name'],
  ['an item of the list', rejection('/databases/2'), 'databases'],
  ['a member with another name in the form', rejection('/expires'), 'day'],
  ['a member within a member', rejection('/tls/clientAuth/tokens/0/san'), 'tokens'],
  ['a member whose own members share a field', rejection('/tls/certificates/0'), 'certificates'],
  ['a member that the form does not have', rejection('/owner'), 'form'],
  ['the whole request', rejection(), 'form'],
  ['a lost response', new Error('Invalid.'), 'form'],
])('an error of %s is shown at its field', (_, error, field) => {
  const fields = {
    name: 'name',
    databases: 'databases',
    expires: 'day',
    tls: 'certificates',
    'tls/clientAuth/tokens': 'tokens',
  }
  expect(toFormErrors(error, fields)).toEqual({ [field]: 'Invalid.' })
})

test('each invalid field shows its own reasons, without its name', () => {
  const message = 'The body is invalid. name: must not be empty; expires: missing; expires: late.'
  const error = new ApiFailure(400, 10, message, {
    field: '/name',
    errors: [
      { field: '/name', reason: 'must not be empty' },
      { field: '/expires', reason: 'missing' },
      { field: '/expires', reason: 'late' },
    ],
  })
  expect(toFormErrors(error, { name: 'name', expires: 'day' })).toEqual({
    name: 'Must not be empty.',
    day: 'Missing. Late.',
  })
  expect(toFormErrors(error, { name: 'name' })).toEqual({
    name: 'Must not be empty.',
    form: message,
  })
})
