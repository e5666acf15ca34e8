import * as v from 'valibot'
import { shownEntry } from '../shown-entry.ts'
import type { NewUser } from '../users/manage-users.ts'
import type { StoredUser } from '../users/user.ts'
import { userType } from '../users/user-type.ts'
import { entryOperations } from './entries.ts'
import { entryReply } from './entry-kind.ts'
import { userTexts } from './member-texts.ts'
import { type Operation, operation } from './operation.ts'
import { pageQuery, pageReply } from './page.ts'
import { versionOf } from './version.ts'

const password = v.pipe(v.string(), v.minLength(8), v.maxLength(1024))

const setPassword = operation({
  id: 'setUserPassword',
  method: 'PUT',
  path: '/users/{id}/password',
  summary: 'Set the password of a user, and end the sessions and tokens of the user',
  params: v.strictObject({ password }),
  protects: 'administrators',
  status: 200,
  async handle({ managers: { users }, params, ids: [sub = ''], request, kit }) {
    const current = async () => (await users.show(sub)).version
    const version = await versionOf(request, kit, { required: false, current })
    return entryReply(userType, await users.setPassword(sub, params.password, { version }))
  },
})

const search = operation({
  id: 'searchUsers',
  method: 'GET',
  path: '/user-names',
  summary: 'Find users whose names for the sign-in start with `name`, in any case and Unicode form',
  params: v.strictObject({ ...pageQuery, name: v.pipe(v.string(), v.minLength(1), v.maxLength(256)) }),
  status: 200,
  async handle({ managers: { users }, params: { name, limit, after }, kit }) {
    const { entries, unreadable, next } = await users.search({ name, limit, after })
    const items = [
      ...entries.map((user) => shownEntry(userType, user)),
      ...unreadable.map((id) => ({ id, unreadable: true })),
    ]
    return pageReply(kit, '/user-names', { items, next }, { name, limit: String(limit) })
  },
})

const userSchema = v.object({
  username: v.pipe(v.string(), v.minLength(1), v.maxLength(256)),
  password: v.optional(password),
  active: v.optional(v.boolean(), true),
  claims: v.optional(v.record(v.string(), v.unknown())),
})

export const userOperations: readonly Operation[] = [
  ...entryOperations<StoredUser>({
    type: userType,
    segment: 'users',
    members: { schemaOf: () => userSchema, texts: userTexts },
    title: 'User',
    readOnly: { secret: 'users have none' },
    notInChanges: { password: 'use PUT on the password' },
    hasOwnId: true,
    protects: 'administrators',
    managerOf: ({ users }) => users,
    async add({ users }, value, tags) {
      // The password itself, as in `setPassword`; never a hash, which could belong to a password that everyone knows.
      const { password: newPassword, ...user } = value as StoredUser
      const options = newPassword === undefined ? {} : { newPassword }
      return { entry: await users.add(user as NewUser, tags, options) }
    },
  }),
  setPassword,
  search,
]
