import { isJsonObject } from '@grantry/core'
import type { Members } from '../differences.ts'
import { usernameProblem } from '../users/username.ts'
import { idProblem } from './client-draft.ts'
import type { Finding, ImportPorts } from './imported.ts'
import { disabledWithout } from './imported-second-factor.ts'
import { createReader, type Known } from './reader.ts'

/** Members of the standard claims. */
const claimNames = ['name', 'nickname', 'given_name', 'family_name', 'picture', 'email', 'email_verified'] as const

/** Returns the id of a user: `user_id`, or `_id` of the export with hashes that the support of Auth0 makes. */
function subOf({ user_id: id, _id: objectId }: Members): string {
  if (typeof id === 'string') return id
  const oid: unknown = isJsonObject(objectId) ? objectId.$oid : objectId
  return typeof oid === 'string' ? `auth0|${oid}` : ''
}

const known: Known = (member) => (/^(?:app|user)_metadata$/u.test(member) ? ['token'] : undefined)

/** Members that name the second factors of a user, in exports of several kinds. */
const factor = /mfa|multifactor|guardian|factors|authenticators|authentication_methods/iu

const isThere = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null && value !== false && value !== ''

const factorsOf = (user: Members): readonly string[] =>
  Object.keys(user).filter((member) => factor.test(member) && !/_last_modified$/u.test(member) && isThere(user[member]))

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
    const factors = factorsOf(user)
    const disabled = disabledWithout(factors, entry, findings)
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
    reader.ignore([...factors, 'multifactor_last_modified'])
    reader.ignore(['password_set_date', 'last_ip', 'last_password_reset', 'migrated', 'version', 'identities'])
    reader.end()
    return [
      {
        sub,
        username,
        ...(hash !== undefined && problem === undefined && { password: hash }),
        ...(blocked && { active: false }),
        ...disabled,
        claims: { preferred_username: username, ...Object.fromEntries(claims) },
      },
    ]
  })
