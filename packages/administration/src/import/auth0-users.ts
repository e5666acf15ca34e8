import { isJsonObject } from '@grantry/core'
import type { Members } from '../differences.ts'
import { usernameProblem } from '../users/username.ts'
import { idProblem } from './client-draft.ts'
import type { Finding, ImportPorts } from './imported.ts'
import { createReader, type Known } from './reader.ts'

/** Members of the standard claims. */
const claimNames = ['name', 'nickname', 'given_name', 'family_name', 'picture', 'email', 'email_verified'] as const

/** Returns the id of a user: `user_id`, or `_id` of the export with hashes that the support of Auth0 makes. */
function subOf({ user_id: id, _id: own }: Members): string {
  if (typeof id === 'string') return id
  const oid: unknown = isJsonObject(own) ? own.$oid : own
  return typeof oid === 'string' ? `auth0|${oid}` : ''
}

const known: Known = (member) =>
  member === 'multifactor' || member === 'mfa_factors'
    ? ['sign-in', 'second factors are not imported']
    : /^(?:app|user)_metadata$/u.test(member)
      ? ['token']
      : undefined

/** Reads users, of an export with or without hashes of passwords (bcrypt). */
export const auth0Users = (
  exported: readonly Members[],
  findings: Finding[],
  ports: Pick<ImportPorts, 'passwordHashProblem'>,
): readonly Members[] =>
  exported.flatMap((user) => {
    const username = String(user.username ?? user.email ?? '')
    const sub = subOf(user)
    const entry = `user ${username === '' ? sub : username}`
    const reader = createReader(user, { entry, findings, known })
    const name = usernameProblem(username)
    const reason = (name === undefined ? undefined : `the name ${name}`) ?? idProblem(sub)
    if (reason !== undefined) {
      reader.note(undefined, `was left out: ${reason}`, 'sign-in')
      return []
    }
    const hash = reader.text('passwordHash')
    const problem = hash === undefined ? undefined : ports.passwordHashProblem(hash)
    if (problem !== undefined) reader.note('passwordHash', `the password was left out: ${problem}`, 'sign-in')
    const claims = claimNames.flatMap((claim) => {
      const value = claim === 'email_verified' ? reader.flag(claim, false) : reader.text(claim)
      return value === undefined ? [] : [[claim, value] as const]
    })
    const blocked = reader.flag('blocked', true) === true
    reader.ignore([
      '_id',
      'user_id',
      'username',
      'created_at',
      'updated_at',
      'last_login',
      'logins_count',
      'tenant',
      'connection',
    ])
    reader.ignore(['password_set_date', 'last_ip', 'last_password_reset', 'migrated', 'version', 'identities'])
    reader.end()
    return [
      {
        sub,
        username,
        ...(hash !== undefined && problem === undefined && { password: hash }),
        ...(blocked && { active: false }),
        claims: { preferred_username: username, ...Object.fromEntries(claims) },
      },
    ]
  })
