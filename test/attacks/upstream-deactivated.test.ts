/**
 * Attack: the operator has deactivated a user who signs in at another provider, by an entry with the `sub` of this user. The user
 * signs in there again, and uses the tokens from before.
 */
import { parseConfiguration, type UserService } from '@grantry/core'
import { expect, test } from 'vitest'
import { userSchema } from '../../packages/server/src/configuration/users-schema.ts'
import { configuredUsers } from '../../packages/server/src/users/configured-users.ts'
import { withUpstreamUsers } from '../../packages/server/src/users/upstream-users.ts'

const stranger = { sub: 'stranger', claims: { name: 'Stranger' } }
const entry = parseConfiguration(
  userSchema,
  {
    sub: 'blocked',
    username: 'blocked',
    password: `$scrypt$ln=15,r=8,p=1$${'a'.repeat(22)}$${'b'.repeat(43)}`,
    active: false,
  },
  'user',
)

const known = { find: async () => ({ claims: stranger.claims }), remove: async () => {} }
const provider = { has: () => true, use: () => known }
const database: UserService = {
  isActive: () => false,
  find: (sub) => (sub === 'blocked' ? [{ sub, active: false }] : []),
}

test.each([
  ['the configuration', configuredUsers([entry])],
  ['a database', database],
])('a user of another provider is not active if an entry of %s says otherwise', async (_name, service) => {
  const users = withUpstreamUsers(service, () => provider as never)
  expect(await users.isActive?.('stranger')).toBe(true)
  expect(await users.isActive?.('blocked')).toBe(false)
})
