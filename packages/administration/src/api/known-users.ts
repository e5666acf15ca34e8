import type { Json, Kit } from '@grantry/core'
import type { AdminUser } from './host.ts'
import { nothing, type Operation, operation } from './operation.ts'
import { missing } from './refusals.ts'

const shown = ({ sub, username, active, claims, from }: AdminUser): Json => ({
  sub,
  ...(username !== undefined && { username }),
  active,
  claims: { ...claims } as Json,
  from,
})

function onlyOne([user, second]: readonly AdminUser[], kit: Pick<Kit, 'refuse'>): AdminUser {
  if (user === undefined) throw missing(kit, 'There is no such user')
  if (second === undefined) return user
  throw kit.refuse(
    'invalid_request',
    'Several users have this name, or one has it and another one this sub',
    'ambiguous',
    {
      status: 409,
    },
  )
}

/** The users of the server, wherever they are. */
export const knownUserOperations: readonly Operation[] = [
  operation({
    id: 'findUser',
    method: 'GET',
    path: '/known-users/{subOrName}',
    summary: 'Find a user by the sub or the name, wherever users are: the storage, the configuration, a user service',
    params: nothing,
    status: 200,
    async handle({ host: { users }, kit, ids: [subOrName = ''] }) {
      if (users === undefined) throw missing(kit, 'This server finds users in the storage only')
      return { json: shown(onlyOne(await users.find(subOrName), kit)) }
    },
  }),
]
