import { configurationObject, type Json, type UserService } from '@grantry/core'
import {
  createConcurrencyLimit,
  createPasswordCheck,
  type Derive,
  type PasswordHash,
  parsePasswordHash,
  passwordHashProblem,
  passwordLimits,
} from '@grantry/users/password-hash'
import * as v from 'valibot'

const text = v.pipe(
  v.string('must be a string'),
  v.minLength(1, 'must not be empty'),
  v.maxLength(255, 'must be at most 255 characters'),
)

const claimsSchema = v.custom<Readonly<Record<string, Json>>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'must be an object of claims',
)

/** A user in a configuration file. */
export const userSchema = configurationObject({
  sub: text,
  username: text,
  password: v.pipe(
    v.string('must be a string'),
    v.rawTransform(({ dataset, addIssue, NEVER }): PasswordHash => {
      const hash = parsePasswordHash(dataset.value)
      if (hash !== undefined) return hash
      addIssue({ message: passwordHashProblem(dataset.value) ?? 'must be a password hash' })
      return NEVER
    }),
  ),
  active: v.optional(v.boolean('must be true or false'), true),
  claims: v.optional(claimsSchema, {}),
})
export type UserInput = v.InferInput<typeof userSchema>
export type ConfiguredUser = v.InferOutput<typeof userSchema>

/**
 * Creates a user service from the users of a configuration.
 *
 * @param derive replaces the computation of hashes in tests
 * @throws TypeError if two users have the same name or `sub`.
 */
export function configuredUsers(users: readonly ConfiguredUser[], derive?: Derive): UserService {
  const byName = new Map<string, ConfiguredUser>()
  const bySub = new Map<string, ConfiguredUser>()
  for (const user of users) {
    if (byName.has(user.username)) throw new TypeError(`users: two users have the username ${user.username}`)
    if (bySub.has(user.sub)) throw new TypeError(`users: two users have the sub ${user.sub}`)
    byName.set(user.username, user)
    bySub.set(user.sub, user)
  }
  const check = createPasswordCheck(
    users.map(({ password }) => password),
    derive,
  )
  const limited = createConcurrencyLimit(passwordLimits)
  return {
    async authenticate({ username, password }) {
      const user = byName.get(username)
      const matches = await limited(() => check(password, user?.password))
      return matches && user?.active ? { sub: user.sub } : undefined
    },
    // Without configured users, all subjects come from elsewhere (a custom grant), and their state is unknown.
    ...(users.length > 0 && { isActive: (sub: string) => bySub.get(sub)?.active ?? false }),
    claims: (sub) => bySub.get(sub)?.claims ?? {},
  }
}
