import { expect, test } from 'vitest'
import { type GroupRoles, roleOfGroups } from './group-roles.ts'

const groups: GroupRoles = {
  claim: 'groups',
  roles: new Map([
    ['readers', 'viewer'],
    ['ops', 'operator'],
    ['team', 'editor'],
    ['cn=a:b', 'viewer'],
  ]),
}

test.each<[string, unknown, string]>([
  ['the highest role', ['team', 'ops', 'readers'], 'operator'],
  ['one name', 'team', 'editor'],
  ['a name with colons', ['cn=a:b'], 'viewer'],
  ['no match', ['others', 'OPS', 'ops '], 'pending'],
  ['no group', [], 'pending'],
  ['a number', 7, 'pending'],
  ['null', null, 'pending'],
  ['an object', { 0: 'ops', length: 1 }, 'pending'],
  ['nested and other entries', [['ops'], 7, null, 'readers'], 'viewer'],
  ['a group beyond the first 1,000', [...Array(1_000).fill('x'), 'ops'], 'pending'],
  ['the last of 1,000 groups', [...Array(999).fill('x'), 'ops'], 'operator'],
])('%s', (_, value, role) => {
  expect(roleOfGroups({ groups: value }, groups)).toBe(role)
})

test('a missing or inherited claim matches no group', () => {
  expect(roleOfGroups(null, groups)).toBe('pending')
  expect(roleOfGroups({}, groups)).toBe('pending')
  expect(roleOfGroups(Object.create({ groups: 'ops' }), groups)).toBe('pending')
})
