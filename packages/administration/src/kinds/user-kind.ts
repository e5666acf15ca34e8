import { member, schemasOf, textsOf } from '@grantry/core'
import * as v from 'valibot'
import type { NewUser } from '../users/manage-users.ts'
import type { StoredUser } from '../users/user.ts'
import { userType } from '../users/user-type.ts'
import { idSchema, type Kind } from './kind.ts'

/** The schema of a password that a request sets. */
export const newPasswordSchema = v.pipe(v.string(), v.minLength(8), v.maxLength(1024))

const members = {
  sub: member(v.optional(idSchema), {
    title: 'Subject (sub)',
    text: 'The id of the user in tokens. Without it, a new user gets one. It cannot be changed later.',
    group: 'application',
  }),
  username: member(v.pipe(v.string(), v.minLength(1), v.maxLength(256)), {
    title: 'User name',
    text: 'The name for the sign-in.',
    group: 'application',
  }),
  password: member(v.optional(newPasswordSchema), {
    title: 'Password',
    text: 'At least 8 characters. Without one, the user cannot sign in with a password.',
    group: 'application',
  }),
  active: member(v.optional(v.boolean(), true), {
    title: 'Enabled',
    text: 'A disabled user cannot sign in, and all sessions and tokens end.',
    group: 'application',
  }),
  claims: member(v.optional(v.record(v.string(), v.unknown())), {
    title: 'Claims',
    text: 'What clients can learn about the user, as a JSON object, such as { "name": "Alice", "email": "alice@example.com" }.',
    group: 'application',
  }),
}
const described = { schema: v.object(schemasOf(members)), texts: textsOf(members) }

export const userKind: Kind<StoredUser> = {
  type: userType,
  list: 'users',
  title: 'User',
  describe: () => described,
  readOnly: { secret: 'users have none' },
  notInChanges: { password: 'use PUT on the password' },
  hasOwnId: true,
  protects: 'administrators',
  heading: 'SUB',
  columns: [
    ['NAME', ({ value }) => value.username],
    ['PASSWORD', ({ value }) => (value.password === undefined ? 'no' : 'yes')],
  ],
  managerOf: ({ users }) => users,
  async add({ users }, { password: newPassword, ...user }, tags) {
    // The password itself, as `setPassword` takes it; never a hash, which could belong to a password that everyone knows.
    const options = newPassword === undefined ? {} : { newPassword }
    return { entry: await users.add(user as NewUser, tags, options) }
  },
  plan: {
    kept: () => [userType.switch],
    initial: ['password'],
    hashes: ['password'],
    sets: [],
  },
}
