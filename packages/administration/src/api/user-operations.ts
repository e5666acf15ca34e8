import * as v from 'valibot'
import { kinds } from '../kinds/kinds.ts'
import { newPasswordSchema } from '../kinds/user-kind.ts'
import { shownEntry } from '../managed-entry.ts'
import { entryOperations } from './entry-operations.ts'
import { pageQuery, pageReply } from './entry-page.ts'
import { entryReply, versionOf } from './entry-reply.ts'
import { type Operation, operation } from './operation.ts'

const setPassword = operation({
  id: 'setUserPassword',
  method: 'PUT',
  path: '/users/{id}/password',
  summary: 'Set the password of a user, and end the sessions and tokens of the user',
  params: v.strictObject({ password: newPasswordSchema }),
  protects: 'administrators',
  status: 200,
  async handle({ managers: { users }, params, ids: [sub = ''], request, kit }) {
    const current = async () => (await users.show(sub)).version
    const version = await versionOf(request, kit, { required: false, current })
    return entryReply(kinds.user.type, await users.setPassword(sub, params.password, { version }))
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
      ...entries.map((user) => shownEntry(kinds.user.type, user)),
      ...unreadable.map((id) => ({ id, unreadable: true })),
    ]
    return pageReply(kit, '/user-names', { items, next }, { name, limit: String(limit) })
  },
})

export const userOperations: readonly Operation[] = [...entryOperations(kinds.user), setPassword, search]
