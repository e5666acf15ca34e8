import { kinds, type Members, type NewUser, type StoredUser, shownEntry } from '@grantry/administration'
import { isJsonObject } from '@grantry/core'
import { assertUsersInStorage } from '../../administration/check-user.ts'
import { assertHas, type CommonArguments, changeOf, json } from '../entry-commands.ts'
import type { CommandKind, EntryArguments } from '../kind-actions.ts'
import { print } from '../output.ts'
import { runOnUser, runOnUsers, storedSub } from './find-subject.ts'
import { readNewPassword } from './read-password.ts'

interface MemberArguments extends EntryArguments {
  readonly sub?: string
  readonly username?: string
  readonly claim?: readonly string[]
  readonly unsetClaim?: readonly string[]
  /** `false` after `--no-password`. */
  readonly password?: false
}

const end = ', ended all sessions, and revoked all tokens.'

export const ofUsers: CommandKind<StoredUser> = {
  kind: kinds.user,
  options: [],
  examples: {
    change: '--username alice or --claim email=alice@example.com',
    set: `'claims={"email":"alice@example.com"}'`,
    file: '{ "claims": { "name": "Alice" } }',
  },
  ends: { disabled: end, removed: end },
  async idOf(subOrName, { users }, loaded) {
    assertUsersInStorage(loaded)
    return storedSub(users, subOrName)
  },
  nameOf: ({ value }) => value.username,
  removedName: (subOrName, sub) => `${subOrName} (sub ${sub})`,
}

export function claimOf(assignment: string): [name: string, value: string] {
  const at = assignment.indexOf('=')
  if (at < 1) throw new TypeError('--claim takes a name and a text, such as email=alice@example.com')
  return [assignment.slice(0, at), assignment.slice(at + 1)]
}

/** Returns the members that the options of a command name. */
async function membersOf(options: MemberArguments, single: Members): Promise<Record<string, unknown>> {
  if (options.set?.some((member) => /^password\b/u.test(member)))
    throw new TypeError('--set cannot set a password; use grantry users set-password')
  return changeOf(options, single, ofUsers.examples)
}

/** Returns claims with the changes of the options. Claims that are no object are refused later. */
function changedClaims(claims: unknown, { claim = [], unsetClaim = [] }: MemberArguments): unknown {
  if (claim.length === 0 && unsetClaim.length === 0) return claims
  const present = isJsonObject(claims) ? Object.entries(claims) : []
  const left = [...present, ...claim.map(claimOf)].filter(([name]) => !unsetClaim.includes(name))
  return Object.fromEntries(left)
}

export async function addUser(username: string, options: MemberArguments): Promise<void> {
  const { sub, claims, ...members } = await membersOf(options, { sub: options.sub })
  const needsPassword = options.password !== false && members.password === undefined
  if (needsPassword && options.file === '-')
    throw new TypeError(
      'standard input has the members, so it cannot have the password; use --no-password, and grantry users set-password',
    )
  const newPassword = needsPassword ? await readNewPassword() : undefined
  const user = {
    ...members,
    username,
    ...(sub !== undefined && { sub }),
    ...((claims !== undefined || options.claim !== undefined) && { claims: changedClaims(claims, options) }),
  } as NewUser
  const added = await runOnUsers(options, ({ users }) => users.add(user, options.tag ?? [], { newPassword }))
  print(options.json ? json(shownEntry(kinds.user.type, added)) : `Added the user ${username}.\nsub  ${added.id}\n`)
}

export async function editUser(subOrName: string, options: MemberArguments): Promise<void> {
  const { claims, ...change } = await membersOf(options, { username: options.username })
  if ('password' in change) throw new TypeError('edit cannot set a password; use grantry users set-password')
  const changesClaims = claims !== undefined || options.unset?.includes('claims') === true
  const isNothing = Object.keys(change).length === 0 && !changesClaims && options.tag === undefined
  if (isNothing && options.claim === undefined && options.unsetClaim === undefined)
    throw new TypeError(`nothing to change; name a member, such as ${ofUsers.examples.change}`)
  const user = await runOnUser(subOrName, options, async (sub, { users }) => {
    const { value, version } = await users.show(sub)
    assertHas(`the user ${value.username}`, value, options.unset)
    assertHas(
      `the user ${value.username}`,
      isJsonObject(value.claims) ? value.claims : {},
      options.unsetClaim,
      'claim ',
    )
    const changed = { ...change, claims: changedClaims(changesClaims ? claims : value.claims, options) }
    return users.edit(sub, changed, { version: options.ifVersion ?? version, tags: options.tag })
  })
  print(options.json ? json(shownEntry(kinds.user.type, user)) : `Changed the user ${user.value.username}.\n`)
}

export async function setPassword(subOrName: string, options: CommonArguments): Promise<void> {
  const password = await readNewPassword()
  const user = await runOnUser(subOrName, options, (sub, { users }) => users.setPassword(sub, password))
  print(
    options.json
      ? json(shownEntry(kinds.user.type, user))
      : `Set the password of the user ${user.value.username}${end}\n`,
  )
}
