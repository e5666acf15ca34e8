import { configurationObject, type Json, OAuthError, type UserService } from '@grantry/core'
import * as v from 'valibot'
import { createPasswordCheck, type Derive, type PasswordHash, parsePasswordHash } from './password-hash.ts'

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
    v.transform(parsePasswordHash),
    v.custom<PasswordHash>(
      (hash) => hash !== undefined,
      'must be a hash like $scrypt$ln=15,r=8,p=1$SALT$HASH; make one with grantry hash-password',
    ),
  ),
  active: v.optional(v.boolean('must be true or false'), true),
  claims: v.optional(claimsSchema, {}),
})
export type UserInput = v.InferInput<typeof userSchema>
export type ConfiguredUser = v.InferOutput<typeof userSchema>

/** Limits how many tasks run concurrently and how many wait. Further tasks are refused with 503. */
export function createConcurrencyLimit(limits: { readonly concurrent: number; readonly queued: number }) {
  let running = 0
  const waiting: (() => void)[] = []

  return async <T>(task: () => Promise<T>): Promise<T> => {
    if (running >= limits.concurrent) {
      if (waiting.length >= limits.queued) {
        throw new OAuthError('temporarily_unavailable', 'The service is busy, try again', {
          reason: 'password_queue_full',
          retryAfter: 1,
        })
      }
      // The finished task that resolves this promise passes on its slot, so `running` does not change.
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else {
      running += 1
    }
    try {
      return await task()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}

// The thread pool of Node.js has four threads. More tasks would wait there without a limit.
const limits = { concurrent: 4, queued: 200 }

/**
 * Creates a user service from the users of a configuration.
 *
 * @param derive replaces scrypt in tests
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
  const limited = createConcurrencyLimit(limits)
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
