import * as v from 'valibot'
import type { NewUser } from '../users/manage-users.ts'
import type { StoredUser } from '../users/user.ts'
import { userType } from '../users/user-type.ts'
import type { Kind } from './kind.ts'
import { userTexts } from './member-texts.ts'

/** The schema of a password that a request sets. */
export const newPasswordSchema = v.pipe(v.string(), v.minLength(8), v.maxLength(1024))

const userSchema = v.object({
  username: v.pipe(v.string(), v.minLength(1), v.maxLength(256)),
  password: v.optional(newPasswordSchema),
  active: v.optional(v.boolean(), true),
  claims: v.optional(v.record(v.string(), v.unknown())),
})

export const userKind: Kind<StoredUser> = {
  type: userType,
  list: 'users',
  title: 'User',
  schemaOf: () => userSchema,
  texts: userTexts,
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
